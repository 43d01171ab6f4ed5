import type { Decision, Limiter } from '@rl/core';

/** A decision in the words of middlewares that count and compare with a limit by themselves. */
export interface Count {
  readonly allowed: boolean;
  /** What was spent, this call included: at least 1. Above the limit exactly where it was denied. */
  readonly used: number;
  /** Until when nothing of it is left; of a denial, until the same call is allowed. */
  readonly waitMs: number;
}

/** @param limiter that decided */
export function countOf(decision: Decision, limiter: Limiter): Count {
  const { allowed, limit, windowMs, resetAfterMs, retryAfterMs } = decision;
  // A cost of 1 that never fits, as of a limit of 0, has no wait: a client may look again then.
  const waitMs = allowed ? resetAfterMs : (retryAfterMs ?? windowMs);
  return { allowed, used: allowed ? Math.max(1, spentOf(decision, limiter)) : limit + 1, waitMs };
}

/**
 * Permits that are spent, from 0 to the limit. In an outage a replica counts its share alone, so the
 * others are taken to have spent as much of theirs: a middleware that compares with a limit of its own
 * for each client would take what is not this replica's for spent. Where all is allowed, nothing is.
 */
export function spentOf({ limit, remaining, fallback }: Decision, limiter: Limiter): number {
  if (fallback?.mode === 'open') return 0;
  const shares = fallback?.mode === 'local' ? limiter.health().replicas : 1;
  return Math.min(limit, Math.max(0, limit - remaining * shares));
}

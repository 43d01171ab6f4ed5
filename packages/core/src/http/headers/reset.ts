import type { Decision } from '../../decision/decision.js';
import { wallClock } from '../../time/clock.js';
import { toSeconds } from './structured-field.js';

/**
 * Seconds until the bucket is full if nobody spends: what formats mean by "reset" that have it beside
 * a limit, since then the whole limit is there again. At least 1 on a denial, and at least its
 * Retry-After.
 */
export function resetS(decision: Decision): number {
  return toSeconds(resetMs(decision));
}

/**
 * The same as an instant, in whole seconds since 1970, rounded up. By this process's wall clock, as is
 * the `Date` of the same response: what lies between the two is right even where the clock is not.
 */
export function resetAtS(decision: Decision): number {
  return toSeconds(wallClock.nowMs() + resetMs(decision));
}

function resetMs({ allowed, resetAfterMs, retryAfterMs = 0 }: Decision): number {
  return Math.max(resetAfterMs, retryAfterMs, allowed ? 0 : 1);
}

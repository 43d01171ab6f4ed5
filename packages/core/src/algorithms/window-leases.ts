import type { LeaseTerms } from '../policy/lease-terms.js';
import type { Policy } from '../policy/policy.js';
import { type Granted, grant, nextEpoch, type Outstanding, outOf } from './outstanding.js';

/*
 * Leases where windows are counted. What is granted counts as spent at once, so nothing has to be
 * written off; the epochs say for how long a return is believed, and end with their window, so that
 * each belongs to one.
 */

/** When the window that `atMs` is in ends; windows follow each other from `startMs` on. */
function windowEnd({ windowMs }: Policy, startMs: number, atMs: number): number {
  return atMs + windowMs - ((atMs - startMs) % windowMs);
}

/** What is out at `nowMs`. @param startMs when the window that it was written in began */
export function rollInWindow(
  policy: Policy,
  out: Outstanding,
  startMs: number,
  nowMs: number,
): Outstanding | undefined {
  let rolled: Outstanding | undefined = out;
  while (rolled !== undefined && rolled.endsAtMs <= nowMs) {
    const { sinceMs, endsAtMs } = rolled;
    const lengthMs = policy.lease?.ttlMs ?? endsAtMs - sinceMs;
    const left = windowEnd(policy, startMs, endsAtMs) - endsAtMs;
    rolled = nextEpoch(rolled, Math.min(lengthMs, left));
  }
  return rolled;
}

/**
 * Grants up to `extra` permits, as far as they are there and the policy's share allows.
 * @param startMs when the present window began
 */
export function grantInWindow(
  policy: Policy,
  out: Outstanding | undefined,
  extra: number,
  there: number,
  startMs: number,
  nowMs: number,
): Granted & { readonly out: Outstanding | undefined } {
  const { share, ttlMs } = policy.lease as LeaseTerms;
  const permits = Math.max(0, Math.min(extra, there, share - outOf(out)));
  const lifeMs = Math.min(ttlMs, windowEnd(policy, startMs, nowMs) - nowMs);
  const next = permits === 0 ? out : grant(out, permits, lifeMs, nowMs);
  return { permits, epoch: next === undefined ? 0 : next.epoch, lifeMs, out: next };
}

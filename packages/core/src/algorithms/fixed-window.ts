import type { Policy } from '../policy/policy.js';
import type { Rules } from './algorithm.js';
import { makeDecision } from './make-decision.js';

/*
 * Fixed window.
 *
 * A window begins with the first call that is allowed and lasts windowMs: [start, start + windowMs).
 * Up to `limit` permits can be spent in it; then everything waits for its end, where all come back
 * at once. It is not aligned to the clock, so that not all clients' windows end together.
 *
 * Worked: 5 per second. Five calls at 0.999 s and five at 2.001 s are all allowed, in two windows,
 * [0.999, 1.999) and [2.001, 3.001). But with a first call at 0, four at 0.999 and five at 1.001,
 * nine calls pass within 2 ms: nearly twice the limit can, around a window's edge. Where that
 * matters use a bucket or a sliding log.
 */

/** What a store keeps for one bucket. */
export interface FixedWindowState {
  /** Permits spent; above the limit after a settlement, or a limit that was lowered. */
  count: number;
  startMs: number;
}

const UNTOUCHED: Readonly<FixedWindowState> = { count: 0, startMs: 0 };

function read(policy: Policy, stored: FixedWindowState | undefined, nowMs: number) {
  if (stored === undefined || stored.count === 0) return UNTOUCHED;
  if (nowMs - stored.startMs >= policy.windowMs) return UNTOUCHED;
  // A clock that stepped back begins the window anew, with what was spent in it.
  return nowMs < stored.startMs ? { count: stored.count, startMs: nowMs } : stored;
}

function spend(view: FixedWindowState, permits: number, nowMs: number): FixedWindowState {
  const startMs = view.count === 0 ? nowMs : view.startMs;
  return { count: view.count + permits, startMs };
}

/** The rules of the fixed window. Its facts are the count and the time until the window ends. */
export const fixedWindow: Rules<FixedWindowState> = {
  read,
  fits: (policy, { count }, cost) => cost === 0 || count + cost <= policy.limit,
  charge: (_policy, view, cost, nowMs) => spend(view, cost, nowMs),
  overcharge: (policy, view, permits, nowMs) => {
    const room = Math.max(0, policy.limit + policy.overdraft - view.count);
    return spend(view, Math.min(permits, room), nowMs);
  },
  giveBack: (_policy, view, permits, nowMs, takenAtMs = nowMs) => {
    if (view.count === 0 || takenAtMs < view.startMs) return view;
    return { count: Math.max(0, view.count - permits), startMs: view.startMs };
  },
  steppedBack: ({ startMs }, nowMs) => nowMs < startMs,
  restart: (_policy, view) => view,
  idleAfterMs: (policy, { count, startMs }, nowMs) =>
    count === 0 ? 0 : startMs + policy.windowMs - nowMs,
  facts: (policy, { count, startMs }, _cost, nowMs) => [
    count,
    count === 0 ? 0 : startMs + policy.windowMs - nowMs,
  ],
  factCount: 2,
  decide: (policy, [count = 0, endsAfterMs = 0], cost, fits, nowMs, origin) =>
    makeDecision(
      policy,
      fits,
      Math.max(0, policy.limit - count),
      cost > policy.limit ? undefined : endsAfterMs,
      count === 0 || policy.limit === 0 ? undefined : endsAfterMs,
      endsAfterMs,
      nowMs,
      origin,
    ),
};

import type { Policy } from '../policy/policy.js';
import type { Rules } from './algorithm.js';
import { makeDecision } from './make-decision.js';
import { account, type Outstanding, outOf } from './outstanding.js';
import { grantInWindow, rollInWindow } from './window-leases.js';

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
 *
 * Permits that replicas hold in advance are counted as spent when they are granted, and may be spent
 * in their window only: so each window's count is what it would be without leases.
 */

/** What a store keeps for one bucket. */
export interface FixedWindowState {
  /** Permits spent; above the limit after a settlement, or a limit that was lowered. */
  count: number;
  startMs: number;
  /** What replicas hold in advance, which `count` includes. */
  out: Outstanding | undefined;
}

const UNTOUCHED: Readonly<FixedWindowState> = { count: 0, startMs: 0, out: undefined };

function read(policy: Policy, stored: FixedWindowState | undefined, nowMs: number) {
  if (stored === undefined || isEmpty(stored)) return UNTOUCHED;
  if (nowMs - stored.startMs >= policy.windowMs) return UNTOUCHED;
  // A clock that stepped back begins the window anew, with what was spent in it.
  const { count, startMs } = stored;
  if (nowMs < startMs) return { count, startMs: nowMs, out: undefined };
  if (stored.out === undefined) return stored;
  return { count, startMs, out: rollInWindow(policy, stored.out, startMs, nowMs) };
}

/** With something out that was told to be spent or returned a moment ago, that is remembered. */
function isEmpty({ count, out }: FixedWindowState): boolean {
  return count === 0 && out === undefined;
}

function spend({ count, startMs, out }: FixedWindowState, permits: number, nowMs: number) {
  return { count: count + permits, startMs: count === 0 ? nowMs : startMs, out };
}

function putBack(view: FixedWindowState, permits: number, out: Outstanding | undefined) {
  return { count: Math.max(0, view.count - permits), startMs: view.startMs, out };
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
    if (takenAtMs < view.startMs) return view;
    // What is out may be spent yet.
    return putBack(view, Math.min(permits, Math.max(0, view.count - outOf(view.out))), view.out);
  },
  steppedBack: ({ startMs }, nowMs) => nowMs < startMs,
  restart: (_policy, view) => view,
  idleAfterMs: (policy, state, nowMs) =>
    isEmpty(state) ? 0 : state.startMs + policy.windowMs - nowMs,
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
  leases: {
    outstanding: ({ out }) => out,
    account: (_policy, view, reports, holder, turn) => {
      if (view.out === undefined) return view;
      const { out, young, old } = account(view.out, reports, holder, turn);
      return putBack(view, young + old, out);
    },
    grant: (policy, view, extra, nowMs) => {
      const there = Math.max(0, policy.limit - view.count);
      const startMs = view.count === 0 ? nowMs : view.startMs;
      const { out, ...granted } = grantInWindow(policy, view.out, extra, there, startMs, nowMs);
      return [{ ...spend(view, granted.permits, nowMs), out }, granted];
    },
  },
};

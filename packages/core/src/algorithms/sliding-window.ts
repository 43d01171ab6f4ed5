import type { Policy } from '../policy/policy.js';
import type { Rules } from './algorithm.js';
import { makeDecision } from './make-decision.js';
import { account, type Outstanding } from './outstanding.js';
import { grantInWindow, rollInWindow } from './window-leases.js';

/*
 * Sliding window, by two weighted counters.
 *
 * Windows are aligned to the store's clock. What was spent in the last windowMs is estimated as the
 * count of the current window and that part of the previous one's that the sliding window still
 * covers, as if it had been spent evenly:
 *
 *   estimate = previous × (windowMs − elapsed) ÷ windowMs + current
 *
 * To stay exact it is kept multiplied by windowMs, in units of permits × ms, and never divided:
 *
 *   spent = previous × (windowMs − elapsed) + current × windowMs      (below 2^53, see policy/)
 *
 * Worked: 100 per 10 s, 50 calls in the first window, 10 at 11 s. Then elapsed is 1 s and
 * spent = 50 × 9000 + 10 × 10,000 = 550,000 units, which is 55 permits: 45 remain. At 19.9 s it is
 * 50 × 100 + 10 × 10,000 = 105,000, so 10.5, and 89 whole permits remain.
 *
 * Two numbers a bucket, whatever the limit. What was spent in the previous window is taken to have
 * been even; a client that spends it all at the end can have nearly twice the limit within a window's
 * length around the edge.
 *
 * Permits that replicas hold in advance are counted as spent when they are granted, and may be spent
 * in their window only: so the counts are what they would be without leases.
 */

/** What a store keeps for one bucket. */
export interface SlidingWindowState {
  /** Permits spent in the window that began at `startMs`. */
  current: number;
  /** Permits spent in the one before. */
  previous: number;
  startMs: number;
  windowMs: number;
  /** Whether a settlement had taken a count above the limit. */
  debt: boolean;
  /** What replicas hold in advance, which the counts include. */
  out: Outstanding | undefined;
}

function read(
  policy: Policy,
  stored: SlidingWindowState | undefined,
  nowMs: number,
): SlidingWindowState {
  const { windowMs } = policy;
  const startMs = nowMs - (nowMs % windowMs);
  if (stored === undefined) {
    return { current: 0, previous: 0, startMs, windowMs, debt: false, out: undefined };
  }
  const { debt } = stored;
  const most = debt ? policy.limit + policy.overdraft : policy.limit;
  let { current, previous } = roll(stored, nowMs);
  if (stored.windowMs !== windowMs) {
    // Written under another window: what that would count now is counted in the new one.
    const old = { current, previous, startMs: nowMs - (nowMs % stored.windowMs) };
    current = Math.ceil(spentOf({ ...old, windowMs: stored.windowMs }, nowMs) / stored.windowMs);
    previous = 0;
  }
  current = Math.min(current, most);
  const out = outAt(policy, stored, startMs, nowMs);
  return { current, previous: Math.min(previous, most), startMs, windowMs, debt, out };
}

/** After a change of the window, or a step back of the clock, what is out counts as spent. */
function outAt(
  policy: Policy,
  { out, windowMs, startMs: writtenIn }: SlidingWindowState,
  startMs: number,
  nowMs: number,
): Outstanding | undefined {
  if (out === undefined || windowMs !== policy.windowMs || writtenIn > startMs) return undefined;
  return rollInWindow(policy, out, writtenIn, nowMs);
}

/** The counts of the window at `nowMs`, by the length it was written with. */
function roll(stored: SlidingWindowState, nowMs: number): { current: number; previous: number } {
  const { current, previous, windowMs } = stored;
  const startMs = nowMs - (nowMs % windowMs);
  // On a clock that stepped back, what was spent counts from here on.
  if (stored.startMs >= startMs) return { current, previous };
  return { current: 0, previous: stored.startMs === startMs - windowMs ? current : 0 };
}

type Counts = Omit<SlidingWindowState, 'debt' | 'out'>;

/** Units of permits × ms in the window that ends now. */
function spentOf({ current, previous, startMs, windowMs }: Counts, nowMs: number): number {
  return previous * (windowMs - (nowMs - startMs)) + current * windowMs;
}

/**
 * Time until `cost` permits, at most the limit, fit. In this window the weight of the previous one
 * has to fall until previous × (windowMs − elapsed) is at most what is free; where the current one
 * alone is too much, the same is asked of it in the next window, when it is the previous one.
 */
function fitsAfterMs(policy: Policy, view: Counts, cost: number, nowMs: number): number {
  const { current, previous, startMs, windowMs } = view;
  const free = policy.limit - cost;
  if (current > free) {
    return startMs + windowMs + windowMs - Math.floor((free * windowMs) / current) - nowMs;
  }
  if (previous === 0) return 0;
  const elapsed = windowMs - Math.floor(((free - current) * windowMs) / previous);
  return Math.max(0, startMs + elapsed - nowMs);
}

/** An epoch ends with its window: the one before the window's first is the previous window's. */
function isOldBefore({ out, startMs }: SlidingWindowState): boolean {
  return out !== undefined && out.sinceMs <= startMs;
}

/** Permits out that were granted in the current window. */
function outIn(view: SlidingWindowState): number {
  const { out } = view;
  if (out === undefined) return 0;
  return isOldBefore(view) ? out.young : out.young + out.old;
}

function stateOf({ limit }: Policy, view: SlidingWindowState): SlidingWindowState {
  return { ...view, debt: view.current > limit || view.previous > limit };
}

/** The rules of the sliding window. Its facts are both counts and the time since the window began. */
export const slidingWindow: Rules<SlidingWindowState> = {
  read,
  fits: (policy, view, cost, nowMs) =>
    cost === 0 ||
    (cost <= policy.limit && spentOf(view, nowMs) <= (policy.limit - cost) * policy.windowMs),
  charge: (policy, view, cost) => stateOf(policy, { ...view, current: view.current + cost }),
  overcharge: (policy, view, permits) => {
    const room = Math.max(0, policy.limit + policy.overdraft - view.current);
    return stateOf(policy, { ...view, current: view.current + Math.min(permits, room) });
  },
  giveBack: (policy, view, permits, nowMs, takenAtMs = nowMs) => {
    const { current, previous, startMs, windowMs } = view;
    if (takenAtMs >= startMs) {
      // What is out may be spent yet.
      const least = Math.min(current, outIn(view));
      return stateOf(policy, { ...view, current: Math.max(least, current - permits) });
    }
    if (takenAtMs < startMs - windowMs) return stateOf(policy, view);
    return stateOf(policy, { ...view, previous: Math.max(0, previous - permits) });
  },
  steppedBack: ({ startMs }, nowMs) => nowMs < startMs,
  restart: stateOf,
  idleAfterMs: (_policy, { current, previous, startMs, windowMs, out }, nowMs) => {
    if (current > 0 || out !== undefined) return startMs + 2 * windowMs - nowMs;
    return previous > 0 ? startMs + windowMs - nowMs : 0;
  },
  facts: (_policy, { current, previous, startMs }, _cost, nowMs) => [
    current,
    previous,
    nowMs - startMs,
  ],
  factCount: 3,
  decide: (policy, [current = 0, previous = 0, elapsed = 0], cost, fits, nowMs, origin) => {
    const { limit, windowMs } = policy;
    const view = { current, previous, startMs: nowMs - elapsed, windowMs };
    const spent = spentOf(view, nowMs);
    const remaining = Math.max(0, Math.floor((limit * windowMs - spent) / windowMs));
    const refillable = spent > 0 && limit > 0;
    return makeDecision(
      policy,
      fits,
      remaining,
      cost > limit ? undefined : fitsAfterMs(policy, view, cost, nowMs),
      refillable ? fitsAfterMs(policy, view, remaining + 1, nowMs) : undefined,
      slidingWindow.idleAfterMs(policy, { ...view, debt: false, out: undefined }, nowMs),
      nowMs,
      origin,
    );
  },
  leases: {
    outstanding: ({ out }) => out,
    account: (policy, view, reports, holder, turn) => {
      if (view.out === undefined) return stateOf(policy, view);
      const { current, previous } = view;
      const { out, young, old } = account(view.out, reports, holder, turn);
      const before = isOldBefore(view) ? old : 0;
      return stateOf(policy, {
        ...view,
        current: Math.max(0, current - young - (old - before)),
        previous: Math.max(0, previous - before),
        out,
      });
    },
    grant: (policy, view, extra, nowMs) => {
      const { current, startMs, windowMs } = view;
      const free = policy.limit * windowMs - spentOf(view, nowMs);
      const there = Math.max(0, Math.floor(free / windowMs));
      const { out, ...granted } = grantInWindow(policy, view.out, extra, there, startMs, nowMs);
      return [stateOf(policy, { ...view, current: current + granted.permits, out }), granted];
    },
  },
};

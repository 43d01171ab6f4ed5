import type { Policy } from '../policy/policy.js';
import type { Rules } from './algorithm.js';
import { makeDecision } from './make-decision.js';

/*
 * Sliding log.
 *
 * Every call that was allowed is kept with its time. A call fits where what was spent later than
 * windowMs ago, and its own cost, are at most the limit: exact over every window, at the price of
 * 16 bytes a call, and as much again for calls that have left the window and are not cut off yet. A
 * call exactly windowMs old is out.
 *
 * Each entry has its time and the running total of all costs up to it. So what was spent between two
 * entries is one subtraction, and both "from where on does the window count?" and "when will this
 * cost fit?" are found by bisection: the work for a check grows with the logarithm of the limit.
 *
 * Worked: 10 per 60 s, cost 6 at 0 s and 4 at 1 s: totals 6 and 10. At 2 s a cost of 1 needs
 * 10 + 1 − 10 = 1 permit to leave: the first entry whose total is at least 1 is the one at 0 s, so
 * it fits at 60 s. A cost of 7 needs 7 to leave: the entry at 1 s, so 61 s.
 */

/** What a store keeps for one bucket; the memory store changes it in place. */
export interface SlidingLogState {
  /** When each call was allowed, oldest first. */
  times: number[];
  /** Permits spent up to and with each. */
  totals: number[];
  /** The first that counts; those before it had left the window when the log was last written. */
  from: number;
}

/** A log from its first entry within the window on. */
export interface SlidingLogView {
  readonly log: SlidingLogState;
  readonly from: number;
}

function totalBefore(log: SlidingLogState, index: number): number {
  return index === 0 ? 0 : (log.totals[index - 1] as number);
}

function usedOf({ log, from }: SlidingLogView): number {
  return totalBefore(log, log.totals.length) - totalBefore(log, from);
}

/** The first index from `from` on for which `holds`, which is false before it and true behind. */
function bisect(from: number, to: number, holds: (index: number) => boolean): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function read(policy: Policy, stored: SlidingLogState | undefined, nowMs: number): SlidingLogView {
  const log = stored ?? { times: [], totals: [], from: 0 };
  const { times } = log;
  const isIn = (i: number) => (times[i] as number) > nowMs - policy.windowMs;
  return { log, from: bisect(log.from, times.length, isIn) };
}

/**
 * Time until `cost` permits, at most the limit, fit: until enough of the oldest entries have left.
 * Those later than now, on a clock that stepped back, count as being of now.
 */
function fitsAfterMs(policy: Policy, view: SlidingLogView, cost: number, nowMs: number): number {
  const { log, from } = view;
  const tooMuch = usedOf(view) + cost - policy.limit;
  if (tooMuch <= 0) return 0;
  const wanted = totalBefore(log, from) + tooMuch;
  const last = bisect(from, log.totals.length, (i) => (log.totals[i] as number) >= wanted);
  return Math.min(log.times[last] as number, nowMs) + policy.windowMs - nowMs;
}

/** Drops what has left the window, and brings times that are later than now back to now. */
function settleLog({ log, from }: SlidingLogView, nowMs: number): SlidingLogState {
  const { times } = log;
  for (let i = times.length - 1; i >= from && (times[i] as number) > nowMs; i--) times[i] = nowMs;
  log.from = from;
  if (from > 32 && from * 2 > times.length) compact(log);
  return log;
}

/** Lets go of the entries that no longer count. */
function compact(log: SlidingLogState): void {
  const before = totalBefore(log, log.from);
  log.times = log.times.slice(log.from);
  log.totals = log.totals.slice(log.from).map((total) => total - before);
  log.from = 0;
}

function append(view: SlidingLogView, permits: number, nowMs: number): SlidingLogState {
  const log = settleLog(view, nowMs);
  if (permits === 0) return log;
  log.totals.push(totalBefore(log, log.totals.length) + permits);
  log.times.push(nowMs);
  return log;
}

/** Takes `permits` from the newest entries, or from those of `takenAtMs` alone. */
function giveBack(
  view: SlidingLogView,
  permits: number,
  nowMs: number,
  takenAtMs: number | undefined,
): SlidingLogState {
  const log = settleLog(view, nowMs);
  const kept: [time: number, cost: number][] = [];
  let left = permits;
  for (let i = log.times.length - 1; i >= log.from; i--) {
    const time = log.times[i] as number;
    const cost = (log.totals[i] as number) - totalBefore(log, i);
    const back = takenAtMs === undefined || takenAtMs === time ? Math.min(cost, left) : 0;
    left -= back;
    if (cost > back) kept.push([time, cost - back]);
  }
  kept.reverse();
  let total = 0;
  log.times = kept.map(([time]) => time);
  log.totals = kept.map(([, cost]) => {
    total += cost;
    return total;
  });
  log.from = 0;
  return log;
}

/** The rules of the sliding log. Its facts are what is spent and the waits, below 0 for none. */
export const slidingLog: Rules<SlidingLogState, SlidingLogView> = {
  read,
  fits: (policy, view, cost) => cost === 0 || usedOf(view) + cost <= policy.limit,
  charge: (_policy, view, cost, nowMs) => append(view, cost, nowMs),
  overcharge: (policy, view, permits, nowMs) => {
    const room = Math.max(0, policy.limit + policy.overdraft - usedOf(view));
    return append(view, Math.min(permits, room), nowMs);
  },
  giveBack: (_policy, view, permits, nowMs, takenAtMs) => giveBack(view, permits, nowMs, takenAtMs),
  steppedBack: ({ times }, nowMs) => nowMs < (times[times.length - 1] ?? nowMs),
  restart: (_policy, view, nowMs) => settleLog(view, nowMs),
  idleAfterMs: (policy, { times, from }, nowMs) =>
    from === times.length ? 0 : (times[times.length - 1] as number) + policy.windowMs - nowMs,
  facts: (policy, view, cost, nowMs) => {
    const used = usedOf(view);
    const { times } = view.log;
    if (used === 0) return [0, cost > policy.limit ? -1 : 0, -1, 0];
    const remaining = Math.max(0, policy.limit - used);
    return [
      used,
      cost > policy.limit ? -1 : fitsAfterMs(policy, view, cost, nowMs),
      policy.limit === 0 ? -1 : fitsAfterMs(policy, view, remaining + 1, nowMs),
      Math.min(times[times.length - 1] as number, nowMs) + policy.windowMs - nowMs,
    ];
  },
  factCount: 4,
  decide: (
    policy,
    [used = 0, retry = 0, refill = 0, resetAfterMs = 0],
    _cost,
    fits,
    nowMs,
    origin,
  ) =>
    makeDecision(
      policy,
      fits,
      Math.max(0, policy.limit - used),
      retry < 0 ? undefined : retry,
      refill < 0 ? undefined : refill,
      resetAfterMs,
      nowMs,
      origin,
    ),
};

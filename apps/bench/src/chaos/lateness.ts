import type { Observation, Stall } from './account.js';
import { TIMER_MS } from './stall-probe.js';

/** For how long of this time the event loop of the replica was stalled. */
export function stalledMs(stalls: readonly Stall[], fromMs: number, toMs: number): number {
  let sumMs = 0;
  for (const stall of stalls) {
    sumMs += Math.max(0, Math.min(toMs, stall.toMs) - Math.max(fromMs, stall.fromMs));
  }
  return sumMs;
}

/** Decisions that took more than twice their deadline. */
export interface Late {
  /** Those that a stall of the replica's own event loop accounts for. */
  readonly stalled: number;
  readonly unexplained: number;
}

/**
 * Counts late decisions. A stall puts off the timer that gives up on the store by its length, and a
 * limiter then gives what is due once more as much time, up to its whole deadline.
 */
export function countLate(
  observations: readonly Observation[],
  stalls: readonly Stall[],
  deadlineMs: number,
): Late {
  let stalled = 0;
  let unexplained = 0;
  for (const { atMs, tookMs } of observations) {
    if (tookMs <= 2 * deadlineMs) continue;
    const stallMs = stalledMs(stalls, atMs, atMs + tookMs);
    if (stallMs > 0 && tookMs <= 2 * deadlineMs + stallMs + 3 * TIMER_MS) stalled++;
    else unexplained++;
  }
  return { stalled, unexplained };
}

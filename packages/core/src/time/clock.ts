/**
 * A source of whole milliseconds. Only differences between two readings of one clock mean
 * anything; a reading is never sent to another machine.
 */
export interface Clock {
  nowMs(): number;
}

/** Kept, as the global is a getter that costs a tenth of a reading. */
const { performance: timer } = globalThis;

/** This process's monotonic clock: unaffected by changes of the wall clock. */
export const monotonicClock: Clock = {
  nowMs: () => Math.floor(timer.now()),
};

/**
 * This process's idea of the time of day, since 1970. Only for what people and clients are told, never
 * for a decision: it jumps.
 */
export const wallClock: Clock = {
  nowMs: () => Date.now(),
};

/**
 * This process's monotonic clock with its fractions of a millisecond: for how long something took, to be
 * told, and never for a decision.
 */
export function preciseMs(): number {
  return timer.now();
}

import { checkInteger } from '../arith/integers.js';
import type { Clock } from '../time/clock.js';

/** A clock for tests that stands still until it is moved. */
export class ManualClock implements Clock {
  #nowMs: number;

  /** @param startMs whole milliseconds, at least 0 */
  constructor(startMs = 1_000_000_000_000) {
    this.#nowMs = checkInteger('startMs', startMs, 0);
  }

  nowMs(): number {
    return this.#nowMs;
  }

  /** Moves to any time, also an earlier one. */
  set(nowMs: number): void {
    this.#nowMs = checkInteger('nowMs', nowMs, 0);
  }

  /** Moves on, or back where `byMs` is below 0. */
  advance(byMs: number): void {
    this.set(this.#nowMs + byMs);
  }
}

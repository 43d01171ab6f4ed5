import type { Clock } from '../../src/time/clock.js';

interface Due {
  readonly atMs: number;
  readonly run: () => unknown;
}

const aTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

function isImmediatePending(): boolean {
  return process.getActiveResourcesInfo().includes('Immediate');
}

/** Ends when all promises and immediates that are under way have had their turn. */
export async function everyTurn(): Promise<void> {
  // What a promise asks for at the end of its turn comes in the one after.
  do await aTurn();
  while (isImmediatePending());
}

/**
 * True time, in milliseconds and parts of them, which passes only from one thing that is due to the
 * next. It begins at `startMs`.
 */
export class VirtualTime {
  /** The latest first. */
  readonly #due: Due[] = [];
  #nowMs: number;

  constructor(startMs: number) {
    this.#nowMs = startMs;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /**
   * Things due at one time run in the order they were asked for.
   * @param run returns false where it has neither made nor settled a promise: a turn of the event
   * loop takes longer than most of what is due
   */
  after(delayMs: number, run: () => unknown): void {
    const atMs = this.#nowMs + delayMs;
    let low = 0;
    let high = this.#due.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#due[middle] as Due).atMs > atMs) low = middle + 1;
      else high = middle;
    }
    this.#due.splice(low, 0, { atMs, run });
  }

  /** Runs all that is due, and what that asks for. */
  async run(): Promise<void> {
    for (let next = this.#due.pop(); next !== undefined; next = this.#due.pop()) {
      this.#nowMs = next.atMs;
      const isDone = next.run() === false && !isImmediatePending();
      if (!isDone) await everyTurn();
    }
  }

  /** Waits while nothing is due. */
  pass(forMs: number): void {
    if (this.#due.length > 0) throw new Error(`${this.#due.length} things are due`);
    this.#nowMs += forMs;
  }

  /** A clock that began at `startMs` and goes `rate` times as fast; in whole milliseconds. */
  clock(startMs: number, rate: number): Clock {
    const sinceMs = this.#nowMs;
    return { nowMs: () => Math.floor(startMs + (this.#nowMs - sinceMs) * rate) };
  }
}

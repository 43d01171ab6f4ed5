/**
 * What was asked so long ago counts for 37 % of what is asked now. The shorter of the two follows a
 * burst as it begins, the longer one keeps what is usual through a pause.
 */
const LONG_MS = 500;
const SHORT_MS = 100;

/** How fast a bucket's permits are asked for by this replica. */
export class Demand {
  /** Permits asked for since `perMs` was last called. */
  asked = 0;
  #long = 0;
  #short = 0;
  #sinceMs: number;

  /** A new one begins as after a pause: its first call alone is no demand. */
  constructor(nowMs: number) {
    this.#sinceMs = nowMs - LONG_MS;
  }

  /**
   * Permits a millisecond: the greater of two exponential averages. What was asked in the
   * millisecond of the last call counts later.
   */
  perMs(nowMs: number): number {
    const elapsedMs = nowMs - this.#sinceMs;
    if (elapsedMs > 0) {
      const now = this.asked / elapsedMs;
      this.#long += (1 - Math.exp(-elapsedMs / LONG_MS)) * (now - this.#long);
      this.#short += (1 - Math.exp(-elapsedMs / SHORT_MS)) * (now - this.#short);
      this.#sinceMs = nowMs;
      this.asked = 0;
    }
    return Math.max(this.#long, this.#short);
  }
}

/** So many events a second are taken each; of more, one in `RATE` on average. */
export const EXACT_PER_SECOND = 1000;
export const RATE = 1024;

const SECOND_MS = 1000;

/**
 * Takes some of many events, so that what is done about them costs next to nothing however many there
 * are. Those that are left out are so many as a random number says: events in a pattern cannot hide.
 */
export class Sampler {
  readonly #random: () => number;
  /** Events until one is taken: whoever sees one counts it down, and at 0 calls `next`. */
  until = 1;
  /** For how many the next that is taken stands. */
  #times = 1;
  #taken = 0;
  #sinceMs = Number.NEGATIVE_INFINITY;

  /** @param random from 0 to below 1 */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** @returns for how many events the one that was taken stands */
  next(nowMs: number): number {
    const times = this.#times;
    if (nowMs - this.#sinceMs >= SECOND_MS) {
      this.#sinceMs = nowMs;
      this.#taken = 0;
    }
    const isExact = ++this.#taken < EXACT_PER_SECOND;
    this.#times = isExact ? 1 : RATE;
    // From 1 to 2047: 1024 on average.
    this.until = isExact ? 1 : 1 + Math.floor(this.#random() * (2 * RATE - 1));
    return times;
  }
}

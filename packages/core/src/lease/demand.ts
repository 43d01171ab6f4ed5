/**
 * What was asked so long ago counts for 37 % of what is asked now. The shorter of the two follows a
 * burst as it begins, the longer one keeps what is usual through a pause.
 */
const LONG_MS = 500;
const SHORT_MS = 100;

/** How fast a bucket is asked for by this replica, in calls and in permits. */
export class Demand {
  readonly #calls = new Rate();
  readonly #permits = new Rate();
  #sinceMs: number;

  /** A new one begins as after a pause: its first call alone is no demand. */
  constructor(nowMs: number) {
    this.#sinceMs = nowMs - LONG_MS;
  }

  /** Notes a call. */
  add(permits: number): void {
    this.#calls.count++;
    this.#permits.count += permits;
  }

  /**
   * Brings the averages up to date. What was noted in the millisecond of the last update counts
   * later.
   */
  update(nowMs: number): void {
    const elapsedMs = nowMs - this.#sinceMs;
    if (elapsedMs <= 0) return;
    this.#calls.update(elapsedMs);
    this.#permits.update(elapsedMs);
    this.#sinceMs = nowMs;
  }

  /** Permits a millisecond. */
  get permitsPerMs(): number {
    return this.#permits.perMs;
  }

  /** Permits that an ordinary call asks for; 0 where there was none. */
  get permitsPerCall(): number {
    const { perMs } = this.#calls;
    return perMs === 0 ? 0 : this.#permits.perMs / perMs;
  }

  /** Permits that the calls of `forMs` will ask for, of whole calls: 0 where that is less than one. */
  expected(forMs: number): number {
    return Math.ceil(Math.floor(this.#calls.perMs * forMs) * this.permitsPerCall);
  }
}

/** How often something happens: the greater of two exponential averages. */
class Rate {
  /** How often since the last update. */
  count = 0;
  #long = 0;
  #short = 0;

  get perMs(): number {
    return Math.max(this.#long, this.#short);
  }

  update(elapsedMs: number): void {
    const now = this.count / elapsedMs;
    this.#long += (1 - Math.exp(-elapsedMs / LONG_MS)) * (now - this.#long);
    this.#short += (1 - Math.exp(-elapsedMs / SHORT_MS)) * (now - this.#short);
    this.count = 0;
  }
}

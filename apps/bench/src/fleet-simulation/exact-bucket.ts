/** What is enforced, as the meters need it: whole permits, over one second. */
export interface Quota {
  readonly limitPerSecond: number;
  /** Permits in a full bucket. */
  readonly burst: number;
}

/** A millisecond brings `limitPerSecond` units, a permit costs so many: all is whole numbers. */
const UNITS = 1000;

/** One token bucket on a clock of whole milliseconds, full to begin with. */
export class ExactBucket {
  readonly #quota: Quota;
  readonly #full: number;
  #level: number;
  #atMs = 0;

  constructor(quota: Quota) {
    this.#quota = quota;
    this.#full = quota.burst * UNITS;
    this.#level = this.#full;
  }

  /**
   * Takes as many of these permits as are there.
   * @param nowMs not before that of an earlier call
   */
  take(permits: number, nowMs: number): number {
    this.#refill(nowMs);
    const taken = Math.max(0, Math.min(permits, Math.floor(this.#level / UNITS)));
    this.#level -= taken * UNITS;
    return taken;
  }

  /** Takes them whether they are there or not, and returns how many permits are missing then. */
  force(permits: number, nowMs: number): number {
    this.#refill(nowMs);
    this.#level -= permits * UNITS;
    return Math.max(0, -this.#level / UNITS);
  }

  #refill(nowMs: number): void {
    const gained = (nowMs - this.#atMs) * this.#quota.limitPerSecond;
    this.#level = Math.min(this.#full, this.#level + gained);
    this.#atMs = nowMs;
  }
}

/**
 * How far admissions went beyond the quota, as a share of the burst: what one bucket that was full
 * to begin with would have been short of at the worst moment. 0 where it covers them all.
 *
 * @param admitted admissions in each millisecond, from 0
 */
export function overshootOf(quota: Quota, admitted: Iterable<number>): number {
  const bucket = new ExactBucket(quota);
  let worst = 0;
  let nowMs = 0;
  for (const permits of admitted) {
    if (permits > 0) worst = Math.max(worst, bucket.force(permits, nowMs));
    nowMs++;
  }
  return worst / quota.burst;
}

/** What a histogram has counted. */
export interface HistogramReading {
  /** Upper bounds of its buckets, ascending; above the last there is one more. */
  readonly bounds: readonly number[];
  /** Values in each bucket alone: up to its bound, and above the one before. One more than `bounds`. */
  readonly counts: readonly number[];
  readonly count: number;
  readonly sum: number;
}

/** Counts values by size. To add one allocates nothing. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: Float64Array;
  #count = 0;
  #sum = 0;

  /** @param bounds ascending, at least one */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  /** As it is now. */
  read(): HistogramReading {
    return {
      bounds: this.#bounds,
      counts: [...this.#counts],
      count: this.#count,
      sum: this.#sum,
    };
  }

  /** @param times how often the value was found */
  add(value: number, times = 1): void {
    let bucket = 0;
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] as number)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] as number) + times;
    this.#count += times;
    this.#sum += value * times;
  }
}

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
export class Histogram implements HistogramReading {
  readonly bounds: readonly number[];
  readonly #counts: Float64Array;
  #count = 0;
  #sum = 0;

  /** @param bounds ascending, at least one */
  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  get counts(): readonly number[] {
    return [...this.#counts];
  }

  /** As it is now. */
  read(): HistogramReading {
    const { bounds, counts, count, sum } = this;
    return { bounds, counts, count, sum };
  }

  get count(): number {
    return this.#count;
  }

  get sum(): number {
    return this.#sum;
  }

  /** @param times how often the value was found */
  add(value: number, times = 1): void {
    let bucket = 0;
    while (bucket < this.bounds.length && value > (this.bounds[bucket] as number)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] as number) + times;
    this.#count += times;
    this.#sum += value * times;
  }
}

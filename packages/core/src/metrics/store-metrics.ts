import type { HistogramReading } from './histogram.js';

/** What a store counts, for all limiters on it. Read anew each time; what does not apply is left out. */
export interface StoreMetrics {
  /** Buckets that a store in memory holds at present. */
  readonly keys?: number | undefined;
  /** Buckets that a store in memory has forgotten before they were full, for want of room. It only rises. */
  readonly evicted?: number | undefined;
  /** How many checks went out together in one call to Redis. */
  readonly batchSize?: HistogramReading | undefined;
}

import type { StoreFault } from '../errors.js';
import type { StoreState } from '../fallback/breaker.js';
import type { HistogramReading } from '../metrics/histogram.js';
import type { DecisionCount, LeaseMetrics } from '../metrics/limiter-metrics.js';

/** What several limiters of one replica count together. Counts only rise, also where limiters go. */
export interface MetricsSum {
  /** Those of one policy name and key class are one. */
  readonly decisions: readonly DecisionCount[];
  /** In seconds. */
  readonly storeLatency: HistogramReading;
  readonly storeErrors: Readonly<Record<StoreFault, number>>;
  /**
   * How many stores, or places of one, are in each state: the worst that any limiter on the store
   * finds. One in memory is a store, too.
   */
  readonly storeStates: Readonly<Record<StoreState, number>>;
  /** The most that any limiter takes there to be; undefined without limiters. */
  readonly replicas: number | undefined;
  readonly owed: number;
  readonly forgotten: number;
  /** Undefined where no store has a `durability`. */
  readonly unreplicated: number | undefined;
  readonly leases: LeaseMetrics;
  readonly rememberedDenials: number;
  /** Buckets that stores in memory hold; undefined where there is no such store. */
  readonly keys: number | undefined;
  readonly evicted: number | undefined;
  /** Undefined where no store sends batches. */
  readonly batchSize: HistogramReading | undefined;
}

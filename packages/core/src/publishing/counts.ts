import type { Origin } from '../decision/decision.js';
import type { StoreFault } from '../errors.js';
import type { StoreHealth } from '../limiter/contract.js';
import type { HistogramReading } from '../metrics/histogram.js';
import type { DecisionCount, LimiterMetrics, Outcome } from '../metrics/limiter-metrics.js';
import { LATENCY_BOUNDS_S, NO_ERRORS } from '../metrics/store-watcher.js';

/** A histogram without its bounds, which are no counts. */
export type HistogramCounts = Pick<HistogramReading, 'counts' | 'count' | 'sum'>;

/** What one limiter counts. */
export type LimiterCounts = {
  /** By policy, key class, outcome and origin with spaces between, which none of them has. */
  readonly decisions: { readonly [labels: string]: number };
  readonly latency: HistogramCounts;
  readonly errors: Readonly<Record<StoreFault, number>>;
  readonly forgotten: number;
  readonly leases: {
    readonly claims: number;
    readonly granted: number;
    readonly returned: number;
    readonly writtenOff: number;
  };
};

/** What one store counts for all limiters on it. */
export type StoreCounts = {
  readonly evicted?: number;
  readonly batchSize?: HistogramCounts;
  readonly unreplicated?: number;
};

export const NO_COUNTS: LimiterCounts = {
  decisions: {},
  latency: {
    counts: [...LATENCY_BOUNDS_S, Number.POSITIVE_INFINITY].map(() => 0),
    count: 0,
    sum: 0,
  },
  errors: NO_ERRORS,
  forgotten: 0,
  leases: { claims: 0, granted: 0, returned: 0, writtenOff: 0 },
};

export function countsOfLimiter(metrics: LimiterMetrics, health: StoreHealth): LimiterCounts {
  const { claims, granted, returned, writtenOff } = metrics.leases;
  return {
    decisions: Object.fromEntries(
      metrics.decisions.map(({ policy, keyClass, outcome, origin, count }) => [
        [policy, keyClass, outcome, origin].join(' '),
        count,
      ]),
    ),
    latency: withoutBounds(metrics.storeLatency),
    errors: metrics.storeErrors,
    forgotten: health.forgotten,
    leases: { claims, granted, returned, writtenOff },
  };
}

export function countsOfStore({ shared }: LimiterMetrics, health: StoreHealth): StoreCounts {
  const { evicted, batchSize } = shared ?? {};
  const { unreplicated } = health;
  return {
    ...(evicted !== undefined && { evicted }),
    ...(batchSize !== undefined && { batchSize: withoutBounds(batchSize) }),
    ...(unreplicated !== undefined && { unreplicated }),
  };
}

export function decisionsOf({ decisions }: LimiterCounts): DecisionCount[] {
  return Object.entries(decisions).map(([labels, count]) => {
    const [policy = '', keyClass = '', outcome, origin] = labels.split(' ');
    return { policy, keyClass, outcome: outcome as Outcome, origin: origin as Origin, count };
  });
}

function withoutBounds({ counts, count, sum }: HistogramReading): HistogramCounts {
  return { counts, count, sum };
}

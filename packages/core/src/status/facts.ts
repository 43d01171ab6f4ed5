import type { Origin } from '../decision/decision.js';
import type { StoreState } from '../fallback/breaker.js';
import type { HistogramReading } from '../metrics/histogram.js';
import type { LeaseMetrics, LimiterMetrics, Outcome } from '../metrics/limiter-metrics.js';
import type { TopKey } from '../metrics/top-keys.js';
import type { Policy } from '../policy/policy.js';
import { quota } from './figures.js';
import type { ShownLimiter, StatusTerms } from './options.js';

/** What one replica knows of its limiters, in numbers. */
export interface StatusFacts {
  /** Which process this is: a text that each has made at random. */
  readonly replica: string;
  /** When it was read, by a clock of which only differences mean something. */
  readonly atMs: number;
  readonly limiters: readonly LimiterFacts[];
}

export interface LimiterFacts {
  /** Undefined where the page has one alone. */
  readonly name: string | undefined;
  readonly store: StoreFacts;
  /** Undefined where no policy leases. */
  readonly leases: LeaseMetrics | undefined;
  readonly policies: readonly PolicyFacts[];
}

export interface StoreFacts {
  readonly state: StoreState;
  readonly places: Readonly<Record<string, StoreState>>;
  readonly replicas: number;
  readonly owed: number;
  readonly forgotten: number;
  /** Questions that were answered or given up. */
  readonly answers: number;
  /** An upper bound of the latency of so much of them; infinite, null in JSON, above all bounds. */
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
  /** Those kinds that have occurred. */
  readonly errors: Readonly<Record<string, number>>;
}

export interface PolicyFacts {
  readonly name: string;
  /** `100 per 1m`. */
  readonly limit: string;
  /** Undefined where it is the limit. */
  readonly burst: number | undefined;
  readonly algorithm: string;
  /** What else applies: `lease`, `shadow`, `fallback closed`, `4 shards`. */
  readonly flags: readonly string[];
  /** Decisions over all key classes; undefined where the limiter counts none. */
  readonly outcomes: Readonly<Partial<Record<Outcome, number>>> | undefined;
  readonly origins: Readonly<Partial<Record<Origin, number>>>;
  readonly total: number;
  /** Keys as they may be shown; undefined where none are kept. */
  readonly top: TopFacts | undefined;
}

export interface TopFacts {
  readonly denied: readonly TopKey[];
  readonly busiest: readonly TopKey[];
  readonly coversMs: number;
}

/** @param shown what stands for a key on the page */
export function factsOf(
  { limiters }: Pick<StatusTerms<never>, 'limiters'>,
  replica: string,
  atMs: number,
  shown: (key: string) => string,
): StatusFacts {
  const read = limiters.map(({ name, limiter }) => limiterFacts(name, limiter, shown));
  return { replica, atMs, limiters: read };
}

function limiterFacts(
  name: string | undefined,
  limiter: ShownLimiter,
  shown: (key: string) => string,
): LimiterFacts {
  const metrics = limiter.metrics();
  const policies = [...limiter.policies.values()];
  const top = new Map(
    limiter.top().map(({ policy, denied, busiest, coversMs }) => {
      const masked = (keys: readonly TopKey[]) =>
        keys.map(({ key, ...rest }) => ({ key: shown(key), ...rest }));
      return [policy, { denied: masked(denied), busiest: masked(busiest), coversMs }];
    }),
  );
  return {
    name,
    store: storeFacts(limiter, metrics),
    leases: policies.some(({ lease }) => lease !== undefined) ? metrics.leases : undefined,
    policies: policies.map((policy) => policyFacts(policy, metrics, top.get(policy.name))),
  };
}

function storeFacts(limiter: ShownLimiter, metrics: LimiterMetrics): StoreFacts {
  const { store: state, places = {}, replicas, owed, forgotten } = limiter.health();
  const { storeLatency, storeErrors } = metrics;
  return {
    ...{ state, places, replicas, owed, forgotten },
    answers: storeLatency.count,
    p50Ms: boundOf(storeLatency, 0.5),
    p99Ms: boundOf(storeLatency, 0.99),
    errors: Object.fromEntries(Object.entries(storeErrors).filter(([, count]) => count > 0)),
  };
}

function policyFacts(
  policy: Policy,
  { decisions }: LimiterMetrics,
  top: TopFacts | undefined,
): PolicyFacts {
  const { name, limit, burst, algorithm, lease, shadow, fallback, shards } = policy;
  const own = decisions.filter((one) => one.policy === name);
  const outcomes: Partial<Record<Outcome, number>> = {};
  const origins: Partial<Record<Origin, number>> = {};
  for (const { outcome, origin, count } of own) {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
    origins[origin] = (origins[origin] ?? 0) + count;
  }
  return {
    name,
    limit: quota(policy),
    burst: burst === limit ? undefined : burst,
    algorithm,
    flags: [
      ...(lease === undefined ? [] : ['lease']),
      ...(shadow ? ['shadow'] : []),
      ...(fallback === undefined ? [] : [`fallback ${fallback}`]),
      ...(shards === undefined ? [] : [`${shards} shards`]),
    ],
    outcomes: own.length === 0 ? undefined : outcomes,
    origins,
    total: own.reduce((sum, { count }) => sum + count, 0),
    top,
  };
}

/** Undefined where nothing was counted. */
function boundOf({ bounds, counts, count }: HistogramReading, part: number): number | undefined {
  if (count === 0) return undefined;
  let below = 0;
  for (const [i, inBucket] of counts.entries()) {
    below += inBucket;
    if (below >= count * part) return (bounds[i] ?? Number.POSITIVE_INFINITY) * 1000;
  }
  return Number.POSITIVE_INFINITY;
}

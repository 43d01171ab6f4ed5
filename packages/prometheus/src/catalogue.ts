import type { HistogramReading } from '@rl/core';
import type { MetricsSum } from '@rl/core/metrics';

/** One line of a scrape. */
export interface Sample {
  labels: Record<string, string>;
  value: number;
  /** Where it differs from that of its family, as in a histogram. */
  metricName?: string;
}

/** What has one name in a scrape. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  /** How the workers of a Node.js cluster make one: `sum` unless it is said. */
  readonly aggregator?: 'sum' | 'max';
  /** None where it does not apply. */
  samples(sum: MetricsSum): readonly Sample[];
}

/** Every metric there is: names are in this file alone. docs/metrics.md has them as a table. */
export const FAMILIES: readonly Family[] = [
  {
    name: 'ratelimit_decisions_total',
    help: 'Calls decided, once for each policy they fall under.',
    type: 'counter',
    labels: ['policy', 'key_class', 'outcome', 'origin'],
    samples: ({ decisions }) =>
      decisions.map(({ policy, keyClass, outcome, origin, count }) => ({
        labels: { policy, key_class: keyClass, outcome, origin },
        value: count,
      })),
  },
  {
    name: 'ratelimit_store_latency_seconds',
    help: 'How long the store took to answer a call that waited for it, or a claim in advance.',
    type: 'histogram',
    labels: [],
    samples: ({ storeLatency }) => histogram('ratelimit_store_latency_seconds', storeLatency),
  },
  {
    name: 'ratelimit_store_errors_total',
    help: 'Questions that the store did not answer, by why.',
    type: 'counter',
    labels: ['kind'],
    samples: ({ storeErrors }) => labelled('kind', storeErrors),
  },
  {
    name: 'ratelimit_store_state',
    help: 'Stores, or parts of one such as the nodes of a Cluster, that are in this state.',
    type: 'gauge',
    labels: ['state'],
    samples: ({ storeStates }) => labelled('state', storeStates),
  },
  {
    name: 'ratelimit_replicas',
    help: 'Replicas among which a quota is divided while the store does not answer.',
    type: 'gauge',
    labels: [],
    aggregator: 'max',
    samples: ({ replicas }) => one(replicas),
  },
  {
    name: 'ratelimit_owed_buckets',
    help: 'Buckets that the store is yet to be charged for, as it did not answer.',
    type: 'gauge',
    labels: [],
    samples: ({ owed }) => one(owed),
  },
  {
    name: 'ratelimit_forgotten_permits_total',
    help: 'Permits that the store cannot be charged for, as too many buckets were owed to.',
    type: 'counter',
    labels: [],
    samples: ({ forgotten }) => one(forgotten),
  },
  {
    name: 'ratelimit_unreplicated_answers_total',
    help: 'Answers told though fewer Redis replicas had them than durability asks for.',
    type: 'counter',
    labels: [],
    samples: ({ unreplicated }) => one(unreplicated),
  },
  {
    name: 'ratelimit_lease_claims_total',
    help: 'Questions to the store that asked for permits in advance or told of them.',
    type: 'counter',
    labels: [],
    samples: ({ leases }) => one(leases.claims),
  },
  {
    name: 'ratelimit_lease_permits_granted_total',
    help: 'Permits that the store has granted in advance.',
    type: 'counter',
    labels: [],
    samples: ({ leases }) => one(leases.granted),
  },
  {
    name: 'ratelimit_lease_permits_returned_total',
    help: 'Permits of leases that were given back unspent.',
    type: 'counter',
    labels: [],
    samples: ({ leases }) => one(leases.returned),
  },
  {
    name: 'ratelimit_lease_permits_written_off_total',
    help: 'Permits of leases that the store counts as spent, as it may not have heard of them.',
    type: 'counter',
    labels: [],
    samples: ({ leases }) => one(leases.writtenOff),
  },
  {
    name: 'ratelimit_lease_buckets',
    help: 'Buckets of which leases or demand are kept.',
    type: 'gauge',
    labels: [],
    samples: ({ leases }) => one(leases.buckets),
  },
  {
    name: 'ratelimit_remembered_denials',
    help: 'Denials that are remembered, so that calls alike are denied without the store.',
    type: 'gauge',
    labels: [],
    samples: ({ rememberedDenials }) => one(rememberedDenials),
  },
  {
    name: 'ratelimit_memory_keys',
    help: 'Buckets that stores in memory hold.',
    type: 'gauge',
    labels: [],
    samples: ({ keys }) => one(keys),
  },
  {
    name: 'ratelimit_memory_evictions_total',
    help: 'Buckets that stores in memory forgot before they were full, for want of room.',
    type: 'counter',
    labels: [],
    samples: ({ evicted }) => one(evicted),
  },
  {
    name: 'ratelimit_batch_size',
    help: 'Checks that went out together in one call to Redis.',
    type: 'histogram',
    labels: [],
    samples: ({ batchSize }) =>
      batchSize === undefined ? [] : histogram('ratelimit_batch_size', batchSize),
  },
];

function one(value: number | undefined): Sample[] {
  return value === undefined ? [] : [{ labels: {}, value }];
}

function labelled(label: string, values: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value }));
}

function histogram(name: string, { bounds, counts, count, sum }: HistogramReading): Sample[] {
  let below = 0;
  const buckets = bounds.map((bound, i) => {
    below += counts[i] ?? 0;
    return { metricName: `${name}_bucket`, labels: { le: String(bound) }, value: below };
  });
  return [
    ...buckets,
    { metricName: `${name}_bucket`, labels: { le: '+Inf' }, value: count },
    { metricName: `${name}_sum`, labels: {}, value: sum },
    { metricName: `${name}_count`, labels: {}, value: count },
  ];
}

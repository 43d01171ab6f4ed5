import type { MetricsSum } from '@rl/core/metrics';

/** A value, and what it is told apart by. */
export interface Observation {
  readonly value: number;
  readonly attributes: Readonly<Record<string, string>>;
}

/** An instrument that is asked for its values. */
export interface Observed {
  readonly name: string;
  readonly description: string;
  /** As UCUM has it; in braces what is counted. */
  readonly unit: string;
  readonly kind: 'counter' | 'updowncounter' | 'gauge';
  readonly attributes: readonly string[];
  /** None where it does not apply. */
  observe(sum: MetricsSum): readonly Observation[];
}

/** The one instrument that is told each value: no histogram can be asked for its own. */
export const STORE_DURATION = {
  name: 'ratelimit.store.duration',
  description:
    'How long the store took to answer a call that waited for it, or a claim in advance.',
  unit: 's',
  kind: 'histogram',
  /** Why there was no answer; left out where there was one. */
  attributes: ['error.type'],
} as const;

/** All others: names are in this file alone. docs/metrics.md has them as a table. */
export const OBSERVED: readonly Observed[] = [
  {
    name: 'ratelimit.requests',
    description: 'Calls decided, once for each policy they fall under.',
    unit: '{request}',
    kind: 'counter',
    attributes: ['ratelimit.policy', 'ratelimit.key_class', 'ratelimit.result', 'ratelimit.origin'],
    observe: ({ decisions }) =>
      decisions.map(({ policy, keyClass, outcome, origin, count }) => ({
        value: count,
        attributes: {
          'ratelimit.policy': policy,
          'ratelimit.key_class': keyClass,
          'ratelimit.result': outcome,
          'ratelimit.origin': origin,
        },
      })),
  },
  {
    name: 'ratelimit.store.errors',
    description: 'Questions that the store did not answer, by why.',
    unit: '{error}',
    kind: 'counter',
    attributes: ['error.type'],
    observe: ({ storeErrors }) => each('error.type', storeErrors),
  },
  {
    name: 'ratelimit.store.count',
    description: 'Stores, or parts of one such as the nodes of a Cluster, that are in this state.',
    unit: '{store}',
    kind: 'updowncounter',
    attributes: ['ratelimit.store.state'],
    observe: ({ storeStates }) => each('ratelimit.store.state', storeStates),
  },
  {
    name: 'ratelimit.replicas',
    description: 'Replicas among which a quota is divided while the store does not answer.',
    unit: '{replica}',
    kind: 'gauge',
    attributes: [],
    observe: ({ replicas }) => one(replicas),
  },
  {
    name: 'ratelimit.owed.buckets',
    description: 'Buckets that the store is yet to be charged for, as it did not answer.',
    unit: '{bucket}',
    kind: 'updowncounter',
    attributes: [],
    observe: ({ owed }) => one(owed),
  },
  {
    name: 'ratelimit.forgotten.permits',
    description: 'Permits that the store cannot be charged for, as too many buckets were owed to.',
    unit: '{permit}',
    kind: 'counter',
    attributes: [],
    observe: ({ forgotten }) => one(forgotten),
  },
  {
    name: 'ratelimit.unreplicated.answers',
    description: 'Answers told though fewer Redis replicas had them than durability asks for.',
    unit: '{answer}',
    kind: 'counter',
    attributes: [],
    observe: ({ unreplicated }) => one(unreplicated),
  },
  {
    name: 'ratelimit.lease.claims',
    description: 'Questions to the store that asked for permits in advance or told of them.',
    unit: '{claim}',
    kind: 'counter',
    attributes: [],
    observe: ({ leases }) => one(leases.claims),
  },
  {
    name: 'ratelimit.lease.permits.granted',
    description: 'Permits that the store has granted in advance.',
    unit: '{permit}',
    kind: 'counter',
    attributes: [],
    observe: ({ leases }) => one(leases.granted),
  },
  {
    name: 'ratelimit.lease.permits.returned',
    description: 'Permits of leases that were given back unspent.',
    unit: '{permit}',
    kind: 'counter',
    attributes: [],
    observe: ({ leases }) => one(leases.returned),
  },
  {
    name: 'ratelimit.lease.permits.written_off',
    description:
      'Permits of leases that the store counts as spent, as it may not have heard of them.',
    unit: '{permit}',
    kind: 'counter',
    attributes: [],
    observe: ({ leases }) => one(leases.writtenOff),
  },
  {
    name: 'ratelimit.lease.buckets',
    description: 'Buckets of which leases or demand are kept.',
    unit: '{bucket}',
    kind: 'updowncounter',
    attributes: [],
    observe: ({ leases }) => one(leases.buckets),
  },
  {
    name: 'ratelimit.remembered_denials',
    description: 'Denials that are remembered, so that calls alike are denied without the store.',
    unit: '{denial}',
    kind: 'updowncounter',
    attributes: [],
    observe: ({ rememberedDenials }) => one(rememberedDenials),
  },
  {
    name: 'ratelimit.memory.keys',
    description: 'Buckets that stores in memory hold.',
    unit: '{bucket}',
    kind: 'updowncounter',
    attributes: [],
    observe: ({ keys }) => one(keys),
  },
  {
    name: 'ratelimit.memory.evictions',
    description: 'Buckets that stores in memory forgot before they were full, for want of room.',
    unit: '{bucket}',
    kind: 'counter',
    attributes: [],
    observe: ({ evicted }) => one(evicted),
  },
  {
    name: 'ratelimit.batch.calls',
    description: 'Calls to Redis that took checks along.',
    unit: '{call}',
    kind: 'counter',
    attributes: [],
    observe: ({ batchSize }) => one(batchSize?.count),
  },
  {
    name: 'ratelimit.batch.checks',
    description: 'Checks that these calls to Redis took along.',
    unit: '{check}',
    kind: 'counter',
    attributes: [],
    observe: ({ batchSize }) => one(batchSize?.sum),
  },
];

function one(value: number | undefined): Observation[] {
  return value === undefined ? [] : [{ value, attributes: {} }];
}

function each(attribute: string, values: Readonly<Record<string, number>>): Observation[] {
  return Object.entries(values).map(([name, value]) => ({
    value,
    attributes: { [attribute]: name },
  }));
}

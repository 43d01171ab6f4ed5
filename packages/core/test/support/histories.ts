import * as fc from 'fast-check';
import { MAX_AMOUNT } from '../../src/arith/integers.js';
import type { LeaseOptions } from '../../src/policy/lease-terms.js';
import {
  ALGORITHMS,
  type Algorithm,
  MAX_LOG_LIMIT,
  type Policy,
  parsePolicy,
} from '../../src/policy/policy.js';

/** The names of the policies of a history; a call may fall under one or several. */
export const NAMES = ['a', 'b', 'c'] as const;

/** What one call asks of one policy's bucket. */
export interface Part {
  /** Index of the policy's name. */
  readonly name: number;
  /** 0 or 1. */
  readonly key: number;
  readonly cost: number;
}

/** One call of a history. Calls of one instant are made in one turn of the event loop. */
export interface Call {
  readonly do: 'consume' | 'refund' | 'overcharge' | 'reset' | 'claim';
  /** Of different names. Only `consume` looks at more than the first. */
  readonly parts: readonly Part[];
  readonly claim: ClaimPart;
  /** Of a refund: whether it says which decision took the permits. */
  readonly told: boolean;
}

/** What a claim asks besides its policy, its key and a cost that waits. */
export interface ClaimPart {
  /** 0 or 1. */
  readonly holder: number;
  readonly extra: number;
  /** What is told of the latest grants of this bucket: the latest first. */
  readonly told: readonly { readonly spent: number; readonly returned: number }[];
  /** True for one that was sent before. */
  readonly again: boolean;
}

export interface Instant {
  /** Milliseconds since the instant before; below 0 where the clock steps back. */
  readonly afterMs: number;
  /** For each name, which of its policies is in force: the name stays, the values change. */
  readonly variants: readonly number[];
  readonly calls: readonly Call[];
}

export interface History {
  /** For each name, the policies it has by turns. */
  readonly policies: readonly (readonly Policy[])[];
  readonly instants: readonly Instant[];
}

const MAX = Number.MAX_SAFE_INTEGER;

/** Small ones, ordinary ones, and ones at the edge of what integers hold. */
export function policies(name: string, algorithm: fc.Arbitrary<Algorithm>): fc.Arbitrary<Policy> {
  const amount = (min: number) =>
    fc.oneof(
      { weight: 4, arbitrary: fc.integer({ min, max: 20 }) },
      { weight: 2, arbitrary: fc.integer({ min, max: 1_000_000 }) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: MAX }) },
    );
  return fc
    .record({
      algorithm,
      windowMs: fc.oneof(
        fc.integer({ min: 1, max: 50 }),
        fc.constantFrom(1000, 60_000, 86_400_000, 31_536_000_000),
        fc.integer({ min: 1, max: 2 ** 31 }),
      ),
      limit: amount(0),
      burst: amount(1),
      overdraft: fc.option(amount(0), { nil: undefined }),
      shadow: fc.boolean(),
      lease: fc.option(
        fc.record({
          ttl: fc.integer({ min: 100, max: 3000 }),
          maxShare: fc.constantFrom(0.1, 0.5, 1),
        }),
        { nil: undefined },
      ),
    })
    .map((values) => completePolicy(name, values));
}

function canLease(algorithm: Algorithm, windowMs: number): boolean {
  if (algorithm === 'token-bucket') return true;
  return windowMs >= 10 && (algorithm === 'fixed-window' || algorithm === 'sliding-window');
}

function completePolicy(
  name: string,
  values: {
    algorithm: Algorithm;
    windowMs: number;
    limit: number;
    burst: number;
    overdraft: number | undefined;
    shadow: boolean;
    lease: LeaseOptions | undefined;
  },
): Policy {
  const { algorithm, windowMs, shadow } = values;
  const most = Math.floor(MAX_AMOUNT / windowMs / (algorithm === 'sliding-window' ? 2 : 1));
  const bucket = algorithm === 'token-bucket' || algorithm === 'gcra';
  const highest = algorithm === 'sliding-log' ? Math.min(most, MAX_LOG_LIMIT) : most;
  const limit = bucket ? values.limit : Math.min(values.limit, highest);
  const burst = limit === 0 ? 0 : Math.min(bucket ? values.burst : limit, most);
  const room = limit === 0 ? 0 : most - burst;
  return parsePolicy(
    name,
    {
      algorithm,
      limit,
      window: windowMs,
      ...(bucket && limit > 0 ? { burst } : {}),
      overdraft: values.overdraft === undefined ? undefined : Math.min(values.overdraft, room),
      shadow,
      lease: canLease(algorithm, windowMs) ? values.lease : undefined,
    },
    '',
  );
}

const costs = fc.oneof(
  { weight: 4, arbitrary: fc.constant(1) },
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 12 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: MAX }) },
);

const permits = fc.integer({ min: 0, max: 12 });

const calls: fc.Arbitrary<Call> = fc.record({
  do: fc.oneof(
    { weight: 12, arbitrary: fc.constant('consume' as const) },
    { weight: 2, arbitrary: fc.constant('refund' as const) },
    { weight: 2, arbitrary: fc.constant('overcharge' as const) },
    { weight: 1, arbitrary: fc.constant('reset' as const) },
    { weight: 6, arbitrary: fc.constant('claim' as const) },
  ),
  parts: fc.uniqueArray(
    fc.record({
      name: fc.integer({ min: 0, max: NAMES.length - 1 }),
      key: fc.integer({ min: 0, max: 1 }),
      cost: costs,
    }),
    { minLength: 1, maxLength: 3, selector: ({ name }) => name },
  ),
  told: fc.boolean(),
  claim: fc.record({
    holder: fc.integer({ min: 0, max: 1 }),
    extra: costs,
    told: fc.array(fc.record({ spent: permits, returned: permits }), { maxLength: 3 }),
    again: fc.boolean(),
  }),
});

/** Steps of every size; sometimes a step back. */
const steps: fc.Arbitrary<number> = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 30 }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 100_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 40_000_000_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: -100_000, max: -1 }) },
);

/**
 * Random costs and times, calls under several policies, refunds, settlements, resets, changes of
 * policy, and a clock that steps back.
 */
export function histories(algorithm: fc.Arbitrary<Algorithm>): fc.Arbitrary<History> {
  return fc.record({
    policies: fc.tuple(
      ...NAMES.map((name) => fc.array(policies(name, algorithm), { minLength: 1, maxLength: 2 })),
    ),
    instants: fc.array(
      fc.record({
        afterMs: steps,
        variants: fc.tuple(...NAMES.map(() => fc.integer({ min: 0, max: 1 }))),
        calls: fc.array(calls, { minLength: 1, maxLength: 8 }),
      }),
      { minLength: 1, maxLength: 20 },
    ),
  });
}

/** Each algorithm by itself, and all mixed. */
export const MIXES: readonly (readonly [string, fc.Arbitrary<Algorithm>])[] = [
  ...ALGORITHMS.map((name) => [name, fc.constant(name)] as const),
  ['all of them, combined', fc.constantFrom(...ALGORITHMS)],
];

/** Checks of one bucket under one policy, on a clock that only goes forward. */
export interface Checks {
  readonly policy: Policy;
  readonly checks: readonly { readonly afterMs: number; readonly cost: number }[];
}

export function checks(algorithm: Algorithm): fc.Arbitrary<Checks> {
  const hasBurst = algorithm === 'token-bucket' || algorithm === 'gcra';
  return fc.record({
    policy: fc
      .record({
        window: fc.integer({ min: 1, max: 5000 }),
        limit: fc.integer({ min: 1, max: 300 }),
        burst: fc.integer({ min: 1, max: 300 }),
      })
      .map(({ window, limit, burst }) =>
        parsePolicy('p', { algorithm, limit, window, ...(hasBurst ? { burst } : {}) }, ''),
      ),
    checks: fc.array(
      fc.record({
        afterMs: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 6000 })),
        cost: fc.oneof(fc.constant(1), fc.integer({ min: 0, max: 40 })),
      }),
      { minLength: 1, maxLength: 50 },
    ),
  });
}

import * as fc from 'fast-check';
import { type Policy, parsePolicy } from '../../src/policy/policy.js';

export const LEASED = ['token-bucket', 'fixed-window', 'sliding-window'] as const;
export type Leased = (typeof LEASED)[number];

/** What happens next to one bucket. Holders are numbered from 0. */
export type Step = { readonly afterMs: number; readonly holder: number } & (
  | ClaimStep
  | { readonly do: 'consume'; readonly cost: number; readonly plain: boolean }
  /** All that is left is taken, in one call. */
  | { readonly do: 'drain' }
  | { readonly do: 'spend'; readonly permits: number }
  /**
   * The holder waits for the last millisecond of its oldest lease, and spends all it holds; all
   * that is left in the store may be taken just before.
   */
  | { readonly do: 'spend late'; readonly drain: boolean }
  /** What the holder held and has not told is lost. */
  | { readonly do: 'crash' }
);

export interface ClaimStep {
  readonly do: 'claim';
  readonly extra: number;
  readonly costs: readonly number[];
  /** Whether it returns what it holds. */
  readonly close: boolean;
  /** Which of the leases it has its terms of. */
  readonly terms: number;
  /** Steps until the store hears it, meanwhile the holder goes on; a later one may be heard first. */
  readonly delays: number;
  /** Steps until the store hears it once more. */
  readonly again: number | undefined;
  /** True where no answer comes. */
  readonly lost: boolean;
}

export interface LeaseHistory {
  /** One policy, by turns with other terms of its lease. */
  readonly policies: readonly Policy[];
  /** The same without a lease. */
  readonly plain: Policy;
  readonly steps: readonly Step[];
}

export const HOLDERS = 3;

const permits = fc.integer({ min: 0, max: 30 });
const delays = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 5 }) },
);

const claims: fc.Arbitrary<ClaimStep> = fc.record({
  do: fc.constant('claim' as const),
  extra: permits,
  costs: fc.array(fc.integer({ min: 0, max: 8 }), { maxLength: 2 }),
  close: fc.boolean(),
  terms: fc.integer({ min: 0, max: 2 }),
  delays,
  again: fc.option(delays, { freq: 4, nil: undefined }),
  lost: fc.oneof(
    { weight: 6, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
});

const steps: fc.Arbitrary<Step> = fc
  .record({
    holder: fc.integer({ min: 0, max: HOLDERS - 1 }),
    afterMs: fc.oneof(
      { weight: 4, arbitrary: fc.integer({ min: 0, max: 10 }) },
      { weight: 3, arbitrary: fc.integer({ min: 0, max: 400 }) },
      { weight: 2, arbitrary: fc.integer({ min: 0, max: 3000 }) },
    ),
    what: fc.oneof(
      { weight: 8, arbitrary: claims },
      {
        weight: 2,
        arbitrary: fc.record({
          do: fc.constant('consume' as const),
          cost: fc.integer({ min: 1, max: 8 }),
          plain: fc.boolean(),
        }),
      },
      { weight: 1, arbitrary: fc.constant({ do: 'drain' } as const) },
      {
        weight: 4,
        arbitrary: fc.record({ do: fc.constant('spend' as const), permits }),
      },
      {
        weight: 4,
        arbitrary: fc.record({ do: fc.constant('spend late' as const), drain: fc.boolean() }),
      },
      { weight: 1, arbitrary: fc.constant({ do: 'crash' } as const) },
    ),
  })
  .map(({ holder, afterMs, what }) => ({ holder, afterMs, ...what }));

/** Claims, returns, crashes, lost and repeated messages of several holders of one bucket. */
export function leaseHistories(algorithm: Leased): fc.Arbitrary<LeaseHistory> {
  const lease = fc.record({
    ttl: fc.oneof(fc.constantFrom(100, 200, 1000), fc.integer({ min: 100, max: 1500 })),
    maxShare: fc.constantFrom(0.3, 0.5, 1),
  });
  return fc
    .record({
      values: fc.record({
        limit: fc.integer({ min: 1, max: 40 }),
        window: fc.integer({ min: 100, max: 4000 }),
        burst: fc.integer({ min: 1, max: 40 }),
      }),
      leases: fc.array(lease, { minLength: 1, maxLength: 3 }),
      steps: fc.array(steps, { minLength: 5, maxLength: 80, size: 'max' }),
    })
    .map(({ values: { burst, ...values }, leases, steps }) => {
      const options = { ...values, algorithm, ...(algorithm === 'token-bucket' ? { burst } : {}) };
      return {
        policies: leases.map((lease) => parsePolicy('p', { ...options, lease }, '')),
        plain: parsePolicy('p', options, ''),
        steps,
      };
    });
}

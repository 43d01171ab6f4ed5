import * as fc from 'fast-check';
import { MAX_AMOUNT } from '../../src/arith/integers.js';
import { type Policy, parsePolicy } from '../../src/policy/policy.js';

/** One call of a history. Calls of one instant are made in one turn of the event loop. */
export interface Call {
  readonly do: 'consume' | 'refund' | 'reset';
  /** 0 to 2. */
  readonly key: number;
  readonly cost: number;
}

export interface Instant {
  /** Milliseconds since the instant before; below 0 where the clock steps back. */
  readonly afterMs: number;
  /** Index of the policy in force: the name stays, the values change. */
  readonly policy: number;
  readonly calls: readonly Call[];
}

export interface History {
  readonly policies: readonly Policy[];
  readonly instants: readonly Instant[];
}

const MAX = Number.MAX_SAFE_INTEGER;

/** Small ones, ordinary ones, and ones at the edge of what integers hold. */
export const policies: fc.Arbitrary<Policy> = fc
  .record({
    windowMs: fc.oneof(
      fc.integer({ min: 1, max: 50 }),
      fc.constantFrom(1000, 60_000, 86_400_000, 31_536_000_000),
      fc.integer({ min: 1, max: 2 ** 31 }),
    ),
    limit: fc.oneof(
      fc.integer({ min: 0, max: 20 }),
      fc.integer({ min: 0, max: 1_000_000 }),
      fc.integer({ min: 1, max: MAX }),
    ),
    burst: fc.oneof(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 1_000_000 }),
      fc.integer({ min: 1, max: MAX }),
    ),
  })
  .map(({ windowMs, limit, burst }) => {
    const most = Math.floor(MAX_AMOUNT / windowMs);
    const given = limit === 0 ? {} : { burst: Math.min(burst, most) };
    return parsePolicy('fuzz', { limit, window: windowMs, ...given }, '');
  });

const calls: fc.Arbitrary<Call> = fc.record({
  do: fc.oneof(
    { weight: 12, arbitrary: fc.constant('consume' as const) },
    { weight: 2, arbitrary: fc.constant('refund' as const) },
    { weight: 1, arbitrary: fc.constant('reset' as const) },
  ),
  key: fc.integer({ min: 0, max: 2 }),
  cost: fc.oneof(
    { weight: 4, arbitrary: fc.constant(1) },
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 12 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: MAX }) },
  ),
});

/** Steps forward of every size; with `back`, sometimes a step back. */
const steps = (back: boolean): fc.Arbitrary<number> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 30 }) },
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 100_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 40_000_000_000 }) },
    ...(back ? [{ weight: 1, arbitrary: fc.integer({ min: -100_000, max: -1 }) }] : []),
  );

/** Random costs and times, refunds, resets, changes of policy, and a clock that steps back. */
export const histories: fc.Arbitrary<History> = fc.record({
  policies: fc.array(policies, { minLength: 1, maxLength: 3 }),
  instants: fc.array(
    fc.record({
      afterMs: steps(true),
      policy: fc.integer({ min: 0, max: 2 }),
      calls: fc.array(calls, { minLength: 1, maxLength: 8 }),
    }),
    { minLength: 1, maxLength: 25 },
  ),
});

/** Checks of one bucket under one policy, on a clock that only goes forward. */
export const checks: fc.Arbitrary<{ policy: Policy; checks: { afterMs: number; cost: number }[] }> =
  fc.record({
    policy: fc
      .record({
        windowMs: fc.integer({ min: 1, max: 5000 }),
        limit: fc.integer({ min: 1, max: 300 }),
        burst: fc.integer({ min: 1, max: 300 }),
      })
      .map(({ windowMs, limit, burst }) =>
        parsePolicy('fuzz', { limit, window: windowMs, burst }, ''),
      ),
    checks: fc.array(
      fc.record({
        afterMs: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 6000 })),
        cost: fc.oneof(fc.constant(1), fc.integer({ min: 0, max: 40 })),
      }),
      { minLength: 1, maxLength: 60 },
    ),
  });

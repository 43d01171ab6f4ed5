import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ALGORITHMS, type Policy } from '../../../../src/policy/policy.js';
import type { RedisStore } from '../../../../src/store/redis/redis-store.js';
import { fuzzRuns } from '../../../support/fuzz.js';
import { LAWS } from '../../../support/laws.js';
import { type Admission, worstOvershoot } from '../../../support/overshoot.js';
import { sharded, useFleets } from '../../../support/sharded.js';

const openFleet = useFleets();

/** Calls of one instant are made in one turn, by any of three replicas. */
interface Instant {
  readonly afterMs: number;
  readonly calls: readonly { readonly by: number; readonly cost: number }[];
}

function histories(shards: number, limit: number): fc.Arbitrary<Instant[]> {
  const cost = fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 3 }) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: Math.ceil(limit / shards) }) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: limit + 1 }) },
  );
  const instant = fc.record({
    afterMs: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 1500 })),
    calls: fc.array(fc.record({ by: fc.nat(2), cost }), { maxLength: 12 }),
  });
  return fc.array(instant, { maxLength: 8 });
}

const plans = fc
  .record({
    shards: fc.integer({ min: 2, max: 8 }),
    limit: fc.integer({ min: 80, max: 200 }),
    burst: fc.integer({ min: 80, max: 200 }),
    window: fc.constantFrom(700, 1000, 60_000),
  })
  .chain((values) =>
    fc.record({ values: fc.constant(values), instants: histories(values.shards, values.limit) }),
  );

function policyOf(algorithm: Policy['algorithm'], values: { burst: number }): Policy {
  const hasBurst = algorithm === 'token-bucket' || algorithm === 'gcra';
  return sharded(algorithm, { ...values, burst: hasBurst ? values.burst : undefined });
}

/** The most that an interval has above what the policy admits in it. */
function overshootOf(policy: Policy, admitted: readonly Admission[]): number {
  const { algorithm, burst, limit, windowMs } = policy;
  if (algorithm === 'token-bucket' || algorithm === 'gcra') {
    return worstOvershoot(admitted, burst, limit / windowMs);
  }
  const law = LAWS[algorithm];
  if (algorithm === 'sliding-window') {
    const lines = admitted.map(({ toMs, permits }) => ({ did: 'admitted', atMs: toMs, permits }));
    const fault = law?.(policy, lines as never);
    if (fault !== undefined) throw new Error(fault);
  }
  // A fixed window of each shard may end within the interval: twice the limit, as of one.
  const most = algorithm === 'sliding-log' ? limit : 2 * limit;
  const spent = admitted.map(({ toMs }) =>
    admitted
      .filter((other) => other.toMs > toMs - windowMs && other.toMs <= toMs)
      .reduce((sum, { permits }) => sum + permits, 0),
  );
  return Math.max(0, ...spent) - most;
}

describe('G1 shards together admit no more than the policy', () => {
  it.each(ALGORITHMS)('%s, whatever three replicas ask at once', (algorithm) =>
    fc.assert(
      fc.asyncProperty(plans, async ({ values, instants }) => {
        const { clock, stores } = openFleet(3);
        const policy = policyOf(algorithm, values);
        const admitted: Admission[] = [];
        for (const { afterMs, calls } of instants) {
          clock.advance(afterMs);
          const nowMs = clock.nowMs();
          const decided = calls.map(async ({ by, cost }) => {
            const decision = await (stores[by] as RedisStore).consume(policy, 'k', cost);
            if (decision.allowed) admitted.push({ fromMs: nowMs, toMs: nowMs, permits: cost });
            expect(decision.limit).toBe(policy.limit);
            expect(decision.policy).toBe('p');
            expect(decision.remaining).toBeGreaterThanOrEqual(0);
            expect(decision.remaining).toBeLessThanOrEqual(policy.burst);
            if (cost > policy.burst) expect(decision.retryAfterMs).toBeUndefined();
            else if (!decision.allowed) expect(decision.retryAfterMs).toBeGreaterThan(0);
          });
          await Promise.all(decided);
        }
        if (admitted.length > 0) expect(overshootOf(policy, admitted)).toBeLessThanOrEqual(1e-6);
      }),
      fuzzRuns(1 / 4),
    ),
  );
});

describe('a denial is of all shards', () => {
  it.each(ALGORITHMS)(
    '%s: a call by itself is denied only where no shards have its cost',
    (algorithm) =>
      fc.assert(
        fc.asyncProperty(plans, async ({ values, instants }) => {
          const { clock, stores } = openFleet(3);
          const policy = policyOf(algorithm, values);
          for (const { afterMs, calls } of instants) {
            clock.advance(afterMs);
            for (const { by, cost } of calls) {
              const found = await (stores[(by + 1) % 3] as RedisStore).consume(policy, 'k', 0);
              const decision = await (stores[by] as RedisStore).consume(policy, 'k', cost);
              expect(decision.allowed).toBe(cost <= found.remaining);
            }
          }
        }),
        fuzzRuns(1 / 8),
      ),
  );

  it.each(ALGORITHMS)('%s: asking again alone after exactly retryAfterMs succeeds', (algorithm) =>
    fc.assert(
      fc.asyncProperty(
        plans,
        fc.integer({ min: 1, max: 80 }),
        async ({ values, instants }, cost) => {
          const { clock, stores } = openFleet(3);
          const policy = policyOf(algorithm, values);
          for (const { afterMs, calls } of instants) {
            clock.advance(afterMs);
            const asked = calls.map((call) =>
              (stores[call.by] as RedisStore).consume(policy, 'k', call.cost),
            );
            await Promise.all(asked);
          }
          for (const store of stores) {
            const decision = await store.consume(policy, 'k', cost);
            if (decision.allowed) continue;
            clock.advance(decision.retryAfterMs as number);
            expect(await store.consume(policy, 'k', cost)).toMatchObject({ allowed: true });
          }
        },
      ),
      fuzzRuns(1 / 4),
    ),
  );
});

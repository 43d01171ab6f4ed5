import { randomPrefix, sharedRedis } from '@rl/testkit';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Decision } from '../../src/decision/decision.js';
import type { Policy } from '../../src/policy/policy.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import { bucketKey } from '../../src/store/redis/bucket-key.js';
import { frozenRedisStore } from '../../src/testing/frozen-redis-store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { fuzzRuns, fuzzTimeoutMs } from '../support/fuzz.js';
import { checks } from '../support/histories.js';

/** Decides the checks of one bucket in memory, in order. */
function decideAll(policy: Policy, list: readonly { afterMs: number; cost: number }[]) {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const decided = list.map(({ afterMs, cost }) => {
    clock.advance(afterMs);
    return { atMs: clock.nowMs(), cost, decision: store.tryConsume(policy, 'k', cost) };
  });
  void store.close();
  return { decided, store };
}

describe('G1 a bucket admits burst + rate × T over every interval, and no less than it may', () => {
  it('a check is allowed exactly when no interval that ends with it would hold too much', () =>
    fc.assert(
      fc.property(checks, ({ policy, checks: list }) => {
        const admitted: { atMs: number; cost: number }[] = [];
        for (const { atMs, cost, decision } of decideAll(policy, list).decided) {
          // In permits × windowMs, so that the bound is an integer: no rounding on either side.
          let spent = cost;
          let fits = spent <= policy.burst;
          for (let i = admitted.length - 1; i >= 0; i--) {
            const before = admitted[i] as { atMs: number; cost: number };
            spent += before.cost;
            const bound = policy.burst * policy.windowMs + policy.limit * (atMs - before.atMs);
            fits &&= spent * policy.windowMs <= bound;
          }
          expect(decision.allowed).toBe(cost === 0 || fits);
          if (decision.allowed && cost > 0) admitted.push({ atMs, cost });
        }
      }),
      fuzzRuns(),
    ));
});

describe('G2 a denied check changes nothing', () => {
  it('in memory: leaving the denied checks out changes no other decision', () =>
    fc.assert(
      fc.property(checks, ({ policy, checks: list }) => {
        const { decided } = decideAll(policy, list);
        let waitedMs = 0;
        const kept: { afterMs: number; cost: number }[] = [];
        const expected: Decision[] = [];
        list.forEach(({ afterMs, cost }, i) => {
          const { decision } = decided[i] as { decision: Decision };
          waitedMs += afterMs;
          if (!decision.allowed) return;
          kept.push({ afterMs: waitedMs, cost });
          expected.push(decision);
          waitedMs = 0;
        });
        expect(decideAll(policy, kept).decided.map(({ decision }) => decision)).toEqual(expected);
      }),
      fuzzRuns(),
    ));

  describe('in Redis', () => {
    let client: Redis;
    const prefix = randomPrefix();
    beforeAll(async () => {
      client = new Redis((await sharedRedis()).connection);
    });
    afterAll(() => client.quit());

    it(
      'neither the value nor the expiry of the key',
      async () => {
        const clock = new ManualClock();
        const store = frozenRedisStore(client, clock, { prefix });
        let histories = 0;
        let denials = 0;
        await fc.assert(
          fc.asyncProperty(checks, async ({ policy, checks: list }) => {
            const id = `denied-${++histories}`;
            const key = bucketKey(prefix, policy, id);
            const stored = () => Promise.all([client.getBuffer(key), client.pexpiretime(key)]);
            let before = await stored();
            for (const { afterMs, cost } of list) {
              clock.advance(afterMs);
              const decision = await store.consume(policy, id, cost);
              const after = await stored();
              if (!decision.allowed || cost === 0) expect(after).toEqual(before);
              if (!decision.allowed) denials++;
              before = after;
            }
          }),
          { ...fuzzRuns(), numRuns: Math.ceil((fuzzRuns().numRuns ?? 1) / 4) },
        );
        expect(denials).toBeGreaterThan(0);
        await store.close();
      },
      fuzzTimeoutMs(),
    );
  });
});

describe('the wait that is told is the wait', () => {
  it('asking again after exactly retryAfterMs succeeds, one millisecond earlier it does not', () =>
    fc.assert(
      fc.property(checks, ({ policy, checks: list }) => {
        list.forEach(({ cost, afterMs }, i) => {
          const again = (waitMs: number) =>
            decideAll(policy, [...list.slice(0, i), { cost, afterMs }, { cost, afterMs: waitMs }]);
          const retryAfterMs = again(0).decided[i]?.decision.retryAfterMs;
          if (retryAfterMs === undefined) return;
          expect(again(retryAfterMs).decided[i + 1]?.decision.allowed).toBe(true);
          expect(again(retryAfterMs - 1).decided[i + 1]?.decision.allowed).toBe(false);
        });
      }),
      { ...fuzzRuns(), numRuns: Math.ceil((fuzzRuns().numRuns ?? 1) / 4) },
    ));

  it('remaining grows by one after exactly refillAfterMs, and is whole after resetAfterMs', () =>
    fc.assert(
      fc.property(checks, ({ policy, checks: list }) => {
        const look = (waitMs: number) =>
          decideAll(policy, [...list, { afterMs: waitMs, cost: 0 }]).decided.at(-1)
            ?.decision as Decision;
        const { remaining, refillAfterMs, resetAfterMs } = look(0);
        if (refillAfterMs === undefined) {
          expect(remaining).toBe(policy.burst);
          return;
        }
        expect(look(refillAfterMs).remaining).toBeGreaterThan(remaining);
        expect(look(refillAfterMs - 1).remaining).toBe(remaining);
        expect(look(resetAfterMs)).toMatchObject({ remaining: policy.burst, resetAfterMs: 0 });
        expect(look(resetAfterMs - 1).resetAfterMs).toBe(1);
      }),
      fuzzRuns(),
    ));
});

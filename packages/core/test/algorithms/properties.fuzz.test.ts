import { randomPrefix, sharedRedis } from '@rl/testkit';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Decision } from '../../src/decision/decision.js';
import { ALGORITHMS, type Policy } from '../../src/policy/policy.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import { bucketKey } from '../../src/store/redis/bucket-key.js';
import { frozenRedisStore } from '../../src/testing/frozen-redis-store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { fuzzRuns } from '../support/fuzz.js';
import { type Checks, checks } from '../support/histories.js';

interface Decided {
  readonly atMs: number;
  readonly cost: number;
  readonly decision: Decision;
}

/** A quarter of the runs, for properties that decide every history many times over. */
function fewerRuns() {
  return { numRuns: Math.ceil((fuzzRuns().numRuns ?? 1) / 4) };
}

/** Decides the checks of one bucket in memory, in order. */
function decideAll(policy: Policy, list: Checks['checks']): Decided[] {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const decided = list.map(({ afterMs, cost }) => {
    clock.advance(afterMs);
    return { atMs: clock.nowMs(), cost, decision: store.tryConsume(policy, 'k', cost) };
  });
  void store.close();
  return decided;
}

/** What was admitted before a check, newest first: the definitions below are told in terms of it. */
type Admitted = readonly { readonly atMs: number; readonly cost: number }[];

/**
 * Each algorithm's definition, as a sum over what was admitted: no state, no refill, nothing that
 * is remembered but the calls themselves.
 */
const DEFINITIONS: Readonly<
  Record<string, (policy: Policy, before: Admitted, atMs: number, cost: number) => boolean>
> = {
  'token-bucket': withinCurve,
  gcra: withinCurve,
  'fixed-window': ({ limit, windowMs }, before, atMs, cost) => {
    let start = Number.NEGATIVE_INFINITY;
    let spent = 0;
    for (const call of [...before].reverse()) {
      if (call.atMs - start >= windowMs) {
        start = call.atMs;
        spent = 0;
      }
      spent += call.cost;
    }
    return (atMs - start >= windowMs ? 0 : spent) + cost <= limit;
  },
  'sliding-window': ({ limit, windowMs }, before, atMs, cost) => {
    const window = Math.floor(atMs / windowMs);
    const spentIn = (index: number) =>
      sum(before.filter((call) => Math.floor(call.atMs / windowMs) === index));
    const covered = windowMs - (atMs % windowMs);
    return spentIn(window - 1) * covered + (spentIn(window) + cost) * windowMs <= limit * windowMs;
  },
  'sliding-log': ({ limit, windowMs }, before, atMs, cost) =>
    sum(before.filter((call) => call.atMs > atMs - windowMs)) + cost <= limit,
};

function sum(calls: Admitted): number {
  return calls.reduce((total, { cost }) => total + cost, 0);
}

/** Over every interval that ends now: at most burst + rate × length, in permits × windowMs. */
function withinCurve(policy: Policy, before: Admitted, atMs: number, cost: number): boolean {
  let spent = cost;
  if (spent > policy.burst) return false;
  return before.every((call) => {
    spent += call.cost;
    const bound = policy.burst * policy.windowMs + policy.limit * (atMs - call.atMs);
    return spent * policy.windowMs <= bound;
  });
}

describe.each(ALGORITHMS)('%s', (algorithm) => {
  it('G1 a check is allowed exactly when its definition allows it, over all that was admitted', () =>
    fc.assert(
      fc.property(checks(algorithm), ({ policy, checks: list }) => {
        const fits = DEFINITIONS[algorithm] as (typeof DEFINITIONS)[string];
        const admitted: { atMs: number; cost: number }[] = [];
        for (const { atMs, cost, decision } of decideAll(policy, list)) {
          expect(decision.allowed).toBe(cost === 0 || fits(policy, admitted, atMs, cost));
          if (decision.allowed && cost > 0) admitted.unshift({ atMs, cost });
        }
      }),
      fuzzRuns(),
    ));

  it('G2 in memory: leaving the denied checks out changes no other decision', () =>
    fc.assert(
      fc.property(checks(algorithm), ({ policy, checks: list }) => {
        const decided = decideAll(policy, list);
        let waitedMs = 0;
        const kept: { afterMs: number; cost: number }[] = [];
        const expected: Decision[] = [];
        list.forEach(({ afterMs, cost }, i) => {
          const { decision } = decided[i] as Decided;
          waitedMs += afterMs;
          if (!decision.allowed) return;
          kept.push({ afterMs: waitedMs, cost });
          expected.push(decision);
          waitedMs = 0;
        });
        expect(decideAll(policy, kept).map(({ decision }) => decision)).toEqual(expected);
      }),
      fuzzRuns(),
    ));

  it('asking again after exactly retryAfterMs succeeds, one millisecond earlier it does not', () =>
    fc.assert(
      fc.property(checks(algorithm), ({ policy, checks: list }) => {
        list.forEach(({ cost }, i) => {
          const again = (waitMs: number) =>
            decideAll(policy, [...list.slice(0, i + 1), { cost, afterMs: waitMs }]);
          const retryAfterMs = again(0)[i]?.decision.retryAfterMs;
          if (retryAfterMs === undefined) return;
          expect(again(retryAfterMs)[i + 1]?.decision.allowed).toBe(true);
          expect(again(retryAfterMs - 1)[i + 1]?.decision.allowed).toBe(false);
        });
      }),
      fewerRuns(),
    ));

  it('remaining grows after exactly refillAfterMs, and is whole after resetAfterMs', () =>
    fc.assert(
      fc.property(checks(algorithm), ({ policy, checks: list }) => {
        const look = (waitMs: number) =>
          decideAll(policy, [...list, { afterMs: waitMs, cost: 0 }]).at(-1)?.decision as Decision;
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

  describe('G2 in Redis', () => {
    let client: Redis;
    const prefix = randomPrefix();
    beforeAll(async () => {
      client = new Redis((await sharedRedis()).connection);
    });
    afterAll(() => client.quit());

    it('a denied check changes neither the value nor the expiry of the key', async () => {
      const clock = new ManualClock();
      const store = frozenRedisStore(client, clock, { prefix });
      let histories = 0;
      let denials = 0;
      await fc.assert(
        fc.asyncProperty(checks(algorithm), async ({ policy, checks: list }) => {
          const id = `denied-${++histories}`;
          const key = bucketKey(prefix, policy, id);
          const stored = () =>
            Promise.all([
              client.getBuffer(key),
              client.pexpiretime(key),
              client.get(`${key}:frozen`),
            ]);
          for (const { afterMs, cost } of list) {
            clock.advance(afterMs);
            // What has expired by the frozen clock leaves the key with the next look.
            await store.consume(policy, id, 0);
            const before = await stored();
            const decision = await store.consume(policy, id, cost);
            if (!decision.allowed || cost === 0) expect(await stored()).toEqual(before);
            if (!decision.allowed) denials++;
          }
        }),
        fewerRuns(),
      );
      expect(denials).toBeGreaterThan(0);
      await store.close();
    });
  });
});

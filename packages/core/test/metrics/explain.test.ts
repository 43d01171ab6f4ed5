import * as fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { createLimiter } from '../../src/limiter/limiter.js';
import { ALGORITHMS, type Policy, type PolicyOptions } from '../../src/policy/policy.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { open } from '../support/answered-replica.js';
import { fits, together } from '../support/answered-store.js';
import { fuzzRuns } from '../support/fuzz.js';
import { checks } from '../support/histories.js';
import { PATIENT } from '../support/patient.js';
import { keysOf, openShared } from '../support/redis.js';
import { closeAll, lose, openSilent, refused } from '../support/silent-replica.js';
import { REDIS, WORLDS, type World } from '../support/worlds.js';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await closeAll();
});

async function openIn(world: World, policies: Record<string, PolicyOptions>) {
  const clock = new ManualClock();
  const { store, close } = await world.open(clock);
  const limiter = createLimiter({ policies, store, clock, fallback: PATIENT });
  closing.push(close, () => limiter.close());
  const [policy] = [...limiter.policies.values()] as [Policy];
  /** Past what the limiter remembers. */
  const consume = async (cost: number, key = 'k') =>
    store.tryConsume(policy, key, cost) ?? (await store.consume(policy, key, cost));
  const explain = async (cost?: number, key = 'k') => {
    const { each, ...all } = await limiter.explain({ [policy.name]: key }, { cost });
    const [one] = each;
    if (one === undefined || each.length !== 1) throw new Error(`of one policy, ${each.length}`);
    return { ...one, all };
  };
  return { limiter, clock, policy, consume, explain };
}

describe.each(WORLDS)('an explanation, on $name', (world) => {
  it.each(ALGORITHMS)('of a %s tells what a call would meet, and changes nothing', async (a) => {
    const clock = new ManualClock();
    const { store, close } = await world.open(clock);
    closing.push(close);
    let run = 0;
    const property = fc.asyncProperty(checks(a), async ({ policy, checks: made }) => {
      const { name: _, keyClass, fallback, lease, ...values } = policy;
      const isBucket = a === 'token-bucket' || a === 'gcra';
      const { windowMs: window, burst, shards: __, ...others } = values;
      const options = { ...others, window, ...(isBucket ? { burst } : {}) };
      const limiter = createLimiter({ policies: { p: options }, store, clock, fallback: PATIENT });
      const [seen, unseen] = [`seen ${run}`, `unseen ${run++}`];
      const consume = async (key: string, cost: number) =>
        store.tryConsume(policy, key, cost) ?? (await store.consume(policy, key, cost));
      for (const { afterMs, cost } of made.slice(0, 15)) {
        clock.advance(afterMs);
        const { each, fits: fit, fitsAfterMs } = await limiter.explain({ p: seen }, { cost });
        const decision = await consume(seen, cost);
        const { remaining, retryAfterMs, allowed } = decision;
        expect([fit, fitsAfterMs]).toEqual([allowed, allowed ? 0 : retryAfterMs]);
        const left = allowed ? remaining + cost : remaining;
        expect(each[0]).toMatchObject({ fits: fit, fitsAfterMs, level: left, held: 0 });
        const { origin, ...other } = await consume(unseen, cost);
        expect(decision).toEqual({ ...other, origin });
      }
      await limiter.close();
    });
    await fc.assert(property, fuzzRuns(0.03));
  });

  it.each(ALGORITHMS)('of a %s tells the wait: who waits for it gets what he asks', async (a) => {
    const { clock, consume, explain } = await openIn(world, {
      p: { limit: 10, window: '10s', algorithm: a },
    });
    await consume(7);
    clock.advance(1300);
    await consume(2);
    const { fits: fit, fitsAfterMs = 0 } = await explain(4);
    expect([fit, fitsAfterMs > 0]).toEqual([false, true]);
    clock.advance(fitsAfterMs - 1);
    expect(await explain(4)).toMatchObject({ fits: false, fitsAfterMs: 1 });
    clock.advance(1);
    expect(await explain(4)).toMatchObject({ fits: true, fitsAfterMs: 0 });
    expect((await consume(4)).allowed).toBe(true);
  });

  it('has no wait for what can never fit', async () => {
    const { explain, policy } = await openIn(world, { p: { limit: 5, window: '10s' } });
    const explanation = await explain(6);
    expect(explanation).toMatchObject({ key: 'k', fits: false, level: 5, held: 0, out: 0 });
    expect(explanation.policy).toBe(policy);
    expect(explanation.fitsAfterMs).toBeUndefined();
    expect(explanation.all).toEqual({ fits: false, fitsAfterMs: undefined });
    expect(await explain()).toMatchObject({ fits: true, fitsAfterMs: 0, out: 0 });
  });

  it.each(['token-bucket', 'gcra'] as const)(
    'tells how far below zero a settlement took a %s',
    async (algorithm) => {
      const p = { limit: 5, window: '10s', algorithm };
      const { limiter, clock, explain } = await openIn(world, { p });
      await limiter.settle({ p: 'k' }, { estimate: 0, cost: 5 });
      expect(await explain()).toMatchObject({ level: 0, fits: false, fitsAfterMs: 2000 });
      await limiter.settle({ p: 'k' }, { estimate: 1, cost: 4 });
      expect(await explain()).toMatchObject({ level: -3, fits: false, fitsAfterMs: 8000 });
      clock.advance(1);
      expect((await explain()).level).toBe(-3);
      clock.advance(1999);
      expect((await explain()).level).toBe(-2);
      clock.advance(4001);
      expect(await explain()).toMatchObject({ level: 0, fits: false, fitsAfterMs: 1999 });
      clock.advance(2000);
      expect(await explain()).toMatchObject({ level: 1, fits: true });
    },
  );

  it('never shows a bucket below zero that is not, where many permits come in a millisecond', async () => {
    const p = { limit: 10_000, window: '1s', burst: 15 };
    const { consume, explain } = await openIn(world, { p });
    await consume(15);
    expect(await explain()).toMatchObject({ level: 0, fits: false, fitsAfterMs: 1 });
  });

  it('of a policy that denies all has nothing to wait for', async () => {
    const { explain } = await openIn(world, { p: { limit: 0, window: '1s' } });
    const { fitsAfterMs, level, fits: fit } = await explain();
    expect([fit, fitsAfterMs, level]).toEqual([false, undefined, 0]);
  });

  it('of a policy that only watches tells whether it fits; the call goes ahead', async () => {
    const p = { limit: 1, window: '10s', shadow: true };
    const { limiter, explain } = await openIn(world, { p });
    await limiter.consume({ p: 'k' });
    await limiter.consume({ p: 'k' });
    const { all, ...one } = await explain();
    expect(all).toEqual({ fits: true, fitsAfterMs: 0 });
    expect(one).toMatchObject({ fits: false, fitsAfterMs: 10_000, policy: { shadow: true } });
    expect(one.denials).toMatchObject({ count: 1, last: [{ shadow: true, cost: 1 }] });
  });

  it('of several policies waits for the longest of them', async () => {
    const { limiter } = await openIn(world, {
      free: { limit: 9, window: '1s' },
      short: { limit: 1, window: '1s' },
      long: { limit: 1, window: '7s' },
      watch: { limit: 1, window: '1h', shadow: true },
    });
    const keys = { free: 'k', short: 'k', long: 'k', watch: 'k' };
    expect(await limiter.explain(keys)).toMatchObject({ fits: true, fitsAfterMs: 0 });
    await limiter.consume(keys);
    const explanation = await limiter.explain(keys);
    expect(explanation).toMatchObject({ fits: false, fitsAfterMs: 7000 });
    expect(explanation.each.map(({ policy, fits: fit }) => [policy.name, fit])).toEqual([
      ['free', true],
      ['short', false],
      ['long', false],
      ['watch', false],
    ]);
    const never = await limiter.explain(keys, { cost: { short: 2 } });
    expect([never.fits, never.fitsAfterMs]).toEqual([false, undefined]);
  });

  it('goes by the values of the call, and has what was denied lately', async () => {
    const { limiter, clock } = await openIn(world, { p: { limit: 2, window: '10s' } });
    for (const cost of [2, 2, 1]) await limiter.consume({ p: 'k' }, { cost });
    const policies = { p: { limit: 10 } };
    const { each } = await limiter.explain({ p: 'k' }, { policies, cost: 9 });
    expect(each[0]).toMatchObject({ policy: { limit: 10 }, fits: false, level: 8 });
    clock.advance(5000);
    const [one] = (await limiter.explain({ p: 'k' })).each;
    expect(one).toMatchObject({ fits: true, denials: { count: 2 } });
    expect(one?.denials.last[0]).toMatchObject({ cost: 1, count: 2, shadow: false });
    expect((await limiter.explain({ p: 'other' })).each[0]?.denials.count).toBe(0);
  });

  it('is refused like a call, and after a close', async () => {
    const { limiter } = await openIn(world, { p: { limit: 2, window: '10s' } });
    await expect(limiter.explain({ q: 'k' })).rejects.toThrow('"q"');
    await expect(limiter.explain({ p: '' })).rejects.toThrow('keys.p');
    await expect(limiter.explain({ p: 'k' }, { cost: -1 })).rejects.toThrow('cost');
    await limiter.close();
    await expect(limiter.explain({ p: 'k' })).rejects.toMatchObject({ code: 'RL_CLOSED' });
  });
});

describe('an explanation, of a bucket in Redis', () => {
  it.each(ALGORITHMS)('of a %s leaves its value and its expiry as they are', async (algorithm) => {
    const { client, prefix, store, close } = await openShared();
    closing.push(close);
    const p = { limit: 3, window: '1h', algorithm };
    const limiter = createLimiter({ policies: { p }, store, fallback: PATIENT });
    closing.push(() => limiter.close());
    await limiter.explain({ p: 'k' });
    expect(await keysOf(client, prefix)).toEqual([]);
    await limiter.consume({ p: 'k' }, { cost: 2 });
    const [key = '', ...others] = await keysOf(client, prefix);
    expect(others).toEqual([]);
    const now = async () => [await client.dumpBuffer(key), await client.pexpiretime(key)];
    const before = await now();
    for (const cost of [0, 1, 2, 4]) {
      expect((await limiter.explain({ p: 'k' }, { cost })).fits).toBe(cost <= 1);
    }
    expect(await now()).toEqual(before);
  });

  it('that is leased tells what this replica holds, and what all do', async () => {
    const clock = new ManualClock();
    const { store, close } = await REDIS.open(clock);
    const policies = { p: { limit: 1000, window: '1s', lease: true } };
    const start = () => createLimiter({ policies, store, clock, fallback: PATIENT });
    const [a, b] = [start(), start()];
    closing.push(
      close,
      () => a.close(),
      () => b.close(),
    );
    const of = async (limiter: typeof a, cost = 1) =>
      (await limiter.explain({ p: 'k' }, { cost })).each[0];
    expect(await of(a)).toMatchObject({ held: 0, out: 0, level: 1000, fits: true });
    await Promise.all(together(a, 100));
    const first = await of(a);
    const held = first?.held ?? 0;
    expect(held).toBeGreaterThan(0);
    expect(first).toMatchObject({ out: held, level: 900 - held });
    expect(await of(b)).toMatchObject({ held: 0, out: held, level: 900 - held });
    await Promise.all(together(b, 100));
    const other = await of(b);
    expect(other?.held).toBeGreaterThan(0);
    expect(other?.out).toBe(held + (other?.held ?? 0));
    a.tryConsume({ p: 'k' });
    expect(await of(a)).toMatchObject({ held: held - 1, out: other?.out });
    // What the bucket has not is there all the same, where this replica holds it.
    const left = (await of(a))?.level ?? 0;
    await store.overcharge(a.policies.get('p') as Policy, 'k', left);
    expect(await of(a, held - 1)).toMatchObject({ fits: true, fitsAfterMs: 0, level: 0 });
    expect(await of(a, held)).toMatchObject({ fits: false });
    expect(await of(b, held + (other?.held ?? 0))).toMatchObject({ fits: false });
  });
});

describe('an explanation, where the store does not answer', () => {
  const TEN = { limit: 10, window: '10s' };

  it('is given by its deadline, by what is known here', async () => {
    const { limiter, store, time } = openSilent({ p: TEN });
    const explained = limiter.explain({ p: 'k' }, { cost: 11 });
    await store.checked();
    await time.pass(5);
    const { each } = await explained;
    expect(each[0]).toMatchObject({
      fits: false,
      fitsAfterMs: undefined,
      out: undefined,
      decision: { origin: 'fallback', fallback: { mode: 'local', fault: 'timeout' } },
    });
  });

  it('says what the fallback would say, wait and all, and charges nothing', async () => {
    const replica = openSilent({ p: TEN }, { replicas: 2 });
    await lose(replica);
    const { limiter, time } = replica;
    await limiter.consume({ p: 'k' }, { cost: 4 });
    for (const cost of [0, 1, 3, 5, 7, 11]) {
      const { each, ...all } = await limiter.explain({ p: 'k' }, { cost });
      expect(each[0]).toMatchObject({ level: 1, held: 0, decision: { origin: 'fallback' } });
      const { decision } = each[0] as (typeof each)[number];
      const { allowed, retryAfterMs } = await limiter.consume({ p: 'twin' }, { cost: 0 });
      expect([allowed, retryAfterMs]).toEqual([true, undefined]);
      expect(all.fits).toBe(cost <= 1);
      if (cost > 1) {
        const denied = await limiter.consume({ p: 'k' }, { cost });
        expect(denied.allowed).toBe(false);
        expect([all.fitsAfterMs, decision.retryAfterMs]).toEqual(
          Array(2).fill(denied.retryAfterMs),
        );
      }
    }
    const { fitsAfterMs = 0 } = await limiter.explain({ p: 'k' }, { cost: 3 });
    time.clock.advance(fitsAfterMs - 1);
    expect((await limiter.explain({ p: 'k' }, { cost: 3 })).fits).toBe(false);
    time.clock.advance(1);
    expect((await limiter.explain({ p: 'k' }, { cost: 3 })).fits).toBe(true);
  });

  it.each([
    { fallback: 'open', fits: true, fitsAfterMs: 0 },
    { fallback: 'closed', fits: false, fitsAfterMs: 1000 },
  ] as const)('goes by the mode $fallback', async ({ fallback, ...expected }) => {
    const replica = openSilent({ p: { ...TEN, fallback } });
    await lose(replica);
    const { limiter } = replica;
    await limiter.consume({ p: 'k' }, { cost: 10 });
    const { each, ...all } = await limiter.explain({ p: 'k' }, { cost: 3 });
    expect(all).toEqual(expected);
    expect(each[0]?.decision.fallback?.mode).toBe(fallback);
    const decision = await limiter.consume({ p: 'k' }, { cost: 3 });
    expect([decision.allowed, decision.retryAfterMs ?? 0]).toEqual(Object.values(expected));
  });

  it('is given at once where it fails, and rejects where that is no failure of the store', async () => {
    const { limiter, store } = openSilent({ p: TEN });
    const explained = limiter.explain({ p: 'k' });
    await (await store.checked()).fail(refused());
    expect((await explained).each[0]?.decision.fallback?.fault).toBe('connection');
    const odd = limiter.explain({ p: 'k' });
    const rejected = expect(odd).rejects.toThrow('odd');
    await (await store.checked()).fail(new TypeError('odd'));
    await rejected;
  });

  it('or answers nonsense, is given all the same', async () => {
    const { limiter, store } = openSilent({ p: TEN });
    Object.assign(store, { examine: async () => undefined });
    const explained = limiter.explain({ p: 'k' });
    expect((await explained).each[0]?.decision.origin).toBe('fallback');
  });
});

it('a store of the app that has no examine is asked with a look', async () => {
  const { limiter, store } = open({ p: { limit: 10, window: '1s' } });
  const explain = async (cost: number) => {
    const explained = limiter.explain({ p: 'k' }, { cost });
    const check = await store.checked();
    expect(check.asked.cost).toBe(0);
    await check.answer(fits(check.asked.policy, 3));
    return (await explained).each[0];
  };
  expect(await explain(3)).toMatchObject({ fits: true, fitsAfterMs: 0, level: 3, out: undefined });
  expect(await explain(4)).toMatchObject({ fits: false, fitsAfterMs: 100, level: 3 });
  expect(await explain(11)).toMatchObject({ fits: false, fitsAfterMs: undefined });
});

import { afterEach, describe, expect, it } from 'vitest';
import { storeFailed } from '../../src/errors.js';
import { PROBE } from '../../src/fallback/probe.js';
import { MAX_UNANSWERED } from '../../src/fallback/store-link.js';
import type { Policy } from '../../src/policy/policy.js';
import { SMALL } from '../support/answered-replica.js';
import { doesNotFit, fits, grantOf, together } from '../support/answered-store.js';
import { losePlace, openPlaced, type PlacedReplica, told } from '../support/placed-replica.js';
import { closeAll, paid, refused } from '../support/silent-replica.js';

afterEach(closeAll);

const HOURLY = { limit: 10, window: '1h' };
const BOTH = { p: 'A1', q: 'B1' };
const POLICIES = { p: HOURLY, q: HOURLY };

/** The store's own question to a place that may be silent: answered, or not. */
async function answerDoubts({ store }: PlacedReplica, sound: string): Promise<string[]> {
  const keys: string[] = [];
  while ((await store.unseen()) > 0) {
    const doubt = await store.checkedAny();
    const { policy, key } = doubt.asked;
    if (policy !== PROBE) throw new Error(`a ${policy.name} is no doubt`);
    keys.push(key);
    if (sound.includes(key.charAt(0))) await doubt.answer(fits(PROBE));
  }
  return keys.sort();
}

const failedAt = (place: string) =>
  Object.assign(storeFailed('decide', new Error('refused'), 'connection'), { place });

describe('a call at several places', () => {
  it('is asked of the store, once, while all of them are up', async () => {
    const { limiter, store } = openPlaced(POLICIES);
    const call = limiter.consume(BOTH);
    const check = await store.checkedAll();
    await check.answer(check.asked.map(({ policy }) => fits(policy, 3)));
    expect(await call).toMatchObject({ origin: 'store', remaining: 3 });
    expect(limiter.health().places).toEqual({ A: 'up', B: 'up' });
  });

  it.each(['A', 'B'])(
    'is decided at once where %s is lost, and charged where it can be',
    async (lost) => {
      const replica = openPlaced(POLICIES);
      const { limiter, store } = replica;
      await losePlace(replica, lost);
      const decision = limiter.tryConsume(BOTH, { cost: 2 });
      const fallback = { mode: 'local', fault: 'connection' };
      expect(decision?.each).toMatchObject([{ fallback }, { fallback }]);
      expect(await store.unseen()).toBe(0);
      expect(paid(replica)).toEqual([[lost === 'A' ? 'B1' : 'A1', 2]]);
      expect(limiter.health().owed).toBe(1);
    },
  );

  it('that is answered says of each place that decided that it is well', async () => {
    const replica = openPlaced(POLICIES);
    const { limiter, store } = replica;
    const failAt = async (key: string) => {
      const call = limiter.consume({ p: key });
      await (await store.checkedAny()).fail(refused());
      await call;
    };
    for (let i = 0; i < 12; i++) {
      await failAt('A1');
      await failAt('B1');
      if (i % 3 < 2) continue;
      const call = limiter.consume({ p: 'A2', q: 'B2' });
      const check = await store.checkedAll();
      await check.answer(check.asked.map(({ policy }) => fits(policy)));
      await call;
    }
    expect(limiter.health().store).toBe('up');
  });

  it('says nothing of a place whose part a lease decided', async () => {
    const replica = openPlaced({ p: SMALL, q: HOURLY, r: HOURLY });
    const { limiter, store } = replica;
    together(limiter, 10);
    const claim = await store.claimed();
    await claim.answer(grantOf(claim.asked));
    for (let i = 0; i < 5; i++) {
      const failing = limiter.consume({ r: 'k' });
      await (await store.checkedAny()).fail(refused());
      await failing;
      if (i === 4) break;
      const call = limiter.consume({ p: 'k', q: 'B1' });
      const check = await store.checkedAll();
      expect(check.asked.map(({ key }) => key)).toEqual(['B1']);
      await check.answer(check.asked.map(({ policy }) => fits(policy)));
      expect((await call).each?.map(({ origin }) => origin)).toEqual(['lease', 'store']);
    }
    expect(limiter.health().places).toMatchObject({ k: 'lost', B: 'up' });
  });

  it('of one place only is a call like any other', async () => {
    const replica = openPlaced(POLICIES);
    const call = replica.limiter.consume({ p: 'A1', q: 'A2' });
    await (await replica.store.checkedAll()).fail(refused());
    await call;
    expect(told(replica)).toEqual([['store-failed', 'A']]);
    expect(await replica.store.unseen()).toBe(0);
  });

  it('whose late answer comes is made up for, each permit once', async () => {
    const { limiter, store, time } = openPlaced(POLICIES);
    const call = limiter.consume(BOTH, { cost: { p: 2, q: 3 } });
    const check = await store.checkedAll();
    await time.pass(5);
    expect(await call).toMatchObject({ origin: 'fallback' });
    expect(limiter.health().owed).toBe(2);
    await check.answer(check.asked.map(({ policy }) => fits(policy)));
    expect(limiter.health().owed).toBe(0);
    expect(store.refunds).toEqual([]);
  });
});

describe('a call at several places that fails', () => {
  it('counts against the one that its error names, and no other is asked', async () => {
    const replica = openPlaced(POLICIES);
    const { limiter, store } = replica;
    for (let i = 0; i < 5; i++) {
      const call = limiter.consume(BOTH);
      await (await store.checkedAll()).fail(failedAt('B'));
      await call;
    }
    expect(limiter.health().places).toEqual({ A: 'up', B: 'lost' });
    expect(await store.unseen()).toBe(0);
    expect(told(replica)).toEqual([...Array(5).fill(['store-failed', 'B']), ['store-lost', 'B']]);
  });

  it('counts once of all that were asked before the first failure was noticed', async () => {
    const { limiter, store } = openPlaced(POLICIES);
    const calls = Array.from({ length: 20 }, () => limiter.consume(BOTH));
    for (let i = 0; i < 20; i++) await (await store.checkedAllAny()).fail(failedAt('B'));
    await Promise.all(calls);
    expect(limiter.health().store).toBe('up');
  });

  it.each([
    ['names none', refused],
    ['names one that was not asked', () => failedAt('C')],
  ])(
    'and %s has each place asked by itself: only who does not answer is lost',
    async (_, error) => {
      const replica = openPlaced(POLICIES, { mode: 'closed' });
      const { limiter, store, time } = replica;
      for (let i = 0; limiter.health().store === 'up' && i < 30; i++) {
        const call = limiter.consume(BOTH);
        await (await store.checkedAll()).fail(error());
        await call;
        expect(await answerDoubts(replica, 'A')).toEqual(['A1', 'B1']);
        await time.pass(20);
      }
      expect(limiter.health().places).toEqual({ A: 'up', B: 'lost' });
      const where = told(replica).map(([, place]) => place);
      expect(new Set(where)).toEqual(new Set([undefined, 'B']));
    },
  );

  it('that is no failure of the store rejects, and nobody is doubted', async () => {
    const { limiter, store } = openPlaced(POLICIES);
    const error = new TypeError('a key of the wrong kind');
    const rejected = expect(limiter.consume(BOTH)).rejects.toBe(error);
    await (await store.checkedAll()).fail(error);
    await rejected;
    expect(await store.unseen()).toBe(0);
  });
});

describe('silence at several places', () => {
  it('loses the silent one, and not its sound neighbour', async () => {
    const replica = openPlaced(POLICIES, { mode: 'closed' });
    const { limiter, store, time } = replica;
    let calls = 0;
    for (; limiter.health().store === 'up' && calls < 50; calls++) {
      const call = limiter.consume(BOTH);
      await store.checkedAll();
      await time.pass(5);
      expect((await call).origin).toBe('fallback');
      await answerDoubts(replica, 'A');
      // Long enough for the neighbour's failures, if it had any.
      await time.pass(5);
    }
    expect(limiter.health().places).toEqual({ A: 'up', B: 'lost' });
    expect(calls).toBeGreaterThanOrEqual(5);
    const call = limiter.consume({ p: 'A2' });
    await (await store.checkedAny()).answer(fits(limiter.policies.get('p') as Policy));
    expect(await call).toMatchObject({ origin: 'store' });
  });

  it('has a place asked one question at a time', async () => {
    const replica = openPlaced(POLICIES);
    const { limiter, store, time } = replica;
    for (let i = 0; i < 10; i++) void limiter.consume(BOTH);
    for (let i = 0; i < 10; i++) await store.checkedAllAny();
    await time.pass(5);
    expect(await answerDoubts(replica, '')).toEqual(['A1', 'B1']);
    void limiter.consume(BOTH);
    await store.checkedAll();
    await time.pass(4);
    expect(await store.unseen()).toBe(0);
    await time.pass(1);
    expect(await answerDoubts(replica, '')).toEqual(['A1', 'B1']);
  });

  it('doubts nobody who is lost already', async () => {
    const replica = openPlaced(POLICIES);
    const { limiter, store, time } = replica;
    void limiter.consume(BOTH);
    await store.checkedAll();
    await losePlace(replica, 'B');
    await time.pass(5);
    expect(await answerDoubts(replica, 'A')).toEqual(['A1']);
  });

  it.each([
    ['who is silent by itself', 'A', { A: 'up', B: 'lost' }],
    ['all, where nobody is', 'AB', { A: 'lost', B: 'lost' }],
  ])('of more calls than there is room for loses %s, at once', async (_, sound, lost) => {
    const replica = openPlaced(POLICIES, { mode: 'closed' });
    const { limiter, store, time } = replica;
    for (let i = 1; i < MAX_UNANSWERED; i++) void limiter.consume(BOTH);
    for (let i = 1; i < MAX_UNANSWERED; i++) await store.checkedAllAny(i === 1);
    await time.pass(5);
    await answerDoubts(replica, sound);
    void limiter.consume(BOTH);
    await store.checkedAll();
    await time.pass(4);
    expect(limiter.health().store).toBe('up');
    await time.pass(1);
    expect(limiter.health().places).toEqual(lost);
  });

  it('of calls that are answered late, after all, takes no room', async () => {
    const replica = openPlaced(POLICIES, { mode: 'closed' });
    const { limiter, store, time } = replica;
    const checks = [];
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < MAX_UNANSWERED / 2; i++) void limiter.consume(BOTH);
      for (let i = 0; i < MAX_UNANSWERED / 2; i++) checks.push(await store.checkedAllAny(i === 0));
      await time.pass(5);
      await answerDoubts(replica, 'AB');
      for (const check of checks.splice(0)) {
        await check.answer(check.asked.map(({ policy }) => fits(policy)));
      }
    }
    expect(limiter.health().places).toEqual({ A: 'up', B: 'up' });
  });

  it('of a call that the store denies late changes nothing', async () => {
    const { limiter, store, time } = openPlaced(POLICIES);
    void limiter.consume(BOTH);
    const check = await store.checkedAll();
    await time.pass(5);
    await check.answer(check.asked.map(({ policy }) => doesNotFit(policy, 100)));
    expect(limiter.health().owed).toBe(2);
    expect(store.refunds).toEqual([]);
  });
});

describe('a bucket in shards, which may be at any place', () => {
  const SHARDED = { s: { limit: 100, window: '1h', shards: 2 }, p: HOURLY };

  it.each([true, false])(
    'that fails loses the place of its key only where that fails by itself: sound %s',
    async (isSound) => {
      const replica = openPlaced(SHARDED);
      const { limiter, store } = replica;
      for (let i = 0; i < 10; i++) {
        const call = limiter.consume({ s: 'A1' }, { cost: 0 });
        if ((await store.unseen()) === 0) break;
        await (await store.checkedAny()).fail(refused());
        expect(await call).toMatchObject({ fallback: { mode: 'local', fault: 'connection' } });
        if (isSound) expect(await answerDoubts(replica, 'A')).toEqual(['A1']);
        else await (await store.checkedAny()).fail(refused());
      }
      expect(limiter.health().places).toEqual({ A: isSound ? 'up' : 'lost' });
      expect(limiter.tryConsume({ p: 'A2' })?.fallback?.mode).toBe(isSound ? undefined : 'local');
    },
  );

  it('says nothing of the place of its key where it is answered', async () => {
    const replica = openPlaced(SHARDED);
    const { limiter, store } = replica;
    for (let i = 0; i < 5; i++) {
      const failing = limiter.consume({ p: 'A1' }, { cost: 0 });
      await (await store.checkedAny()).fail(refused());
      await failing;
      if (i === 4) break;
      const call = limiter.consume({ s: 'A1' }, { cost: 0 });
      const check = await store.checkedAny();
      await check.answer(fits(check.asked.policy));
      expect(await call).toMatchObject({ origin: 'store' });
    }
    expect(limiter.health().places).toEqual({ A: 'lost' });
  });
});

import { afterEach, describe, expect, it } from 'vitest';
import { RETURN_MS } from '../../src/fallback/breaker.js';
import { PROBE } from '../../src/fallback/probe.js';
import { fits, STORE_MS } from '../support/answered-store.js';
import { asyncResourcesOf } from '../support/async-resources.js';
import {
  closeAll,
  find,
  kinds,
  lose,
  openSilent,
  paid,
  refused,
} from '../support/silent-replica.js';
import { everyTurn } from '../support/virtual-time.js';

afterEach(closeAll);

const HOURLY = { limit: 10, window: '1h' };

describe('a lost store', () => {
  it('is asked no more: calls are decided at once, under the fault there was', async () => {
    const replica = openSilent({ p: HOURLY, q: HOURLY });
    const { limiter, store } = replica;
    expect(limiter.tryConsume({ p: 'k' })).toBeUndefined();
    await lose(replica);
    expect(limiter.health()).toEqual({ store: 'lost', replicas: 1, owed: 0, forgotten: 0 });
    const fallback = { mode: 'local', fault: 'connection' };
    expect(limiter.tryConsume({ p: 'k' })).toMatchObject({ allowed: true, fallback });
    expect(limiter.tryConsume({ p: 'k', q: 'k' })?.each).toMatchObject([
      { fallback },
      { fallback },
    ]);
    expect(await limiter.consume({ p: 'k' })).toMatchObject({ remaining: 7, fallback });
    expect(await limiter.peek({ p: 'k' })).toMatchObject({ remaining: 7, fallback });
    expect(await store.unseen()).toBe(0);
    expect(limiter.health().owed).toBe(2);
  });

  it('is lost by silence as by refusals, and nothing more waits for it', async () => {
    const replica = openSilent({ p: HOURLY });
    const { limiter, time } = replica;
    for (let i = 0; i < 5; i++) {
      expect(limiter.health().store).toBe('up');
      void limiter.consume({ p: `${i}` });
      await time.pass(25);
    }
    expect(limiter.health().store).toBe('lost');
    expect(limiter.tryConsume({ p: 'k' })?.fallback).toEqual({ mode: 'local', fault: 'timeout' });
  });

  it('is not lost by one burst of calls, which were asked before anything was noticed', async () => {
    const replica = openSilent({ p: HOURLY });
    for (let i = 0; i < 100; i++) void replica.limiter.consume({ p: 'k' });
    await replica.time.pass(5);
    expect(kinds(replica)).toEqual(Array(100).fill('store-failed'));
    expect(replica.limiter.health().store).toBe('up');
  });

  it.each(['local', 'open', 'closed'] as const)(
    'costs a call that is %s no promise, no timer and no question',
    async (mode) => {
      const replica = openSilent({ p: HOURLY, q: HOURLY }, { mode });
      await lose(replica);
      const { limiter, store, time } = replica;
      const timers = time.timers;
      const allowed: (boolean | undefined)[] = [];
      const kinds = asyncResourcesOf(() => {
        for (let i = 0; i < 200; i++) allowed.push(limiter.tryConsume({ p: 'k' })?.allowed);
        for (let i = 0; i < 200; i++) limiter.tryConsume({ p: 'k', q: 'k' });
      });
      expect(kinds).toEqual([]);
      expect(allowed.filter(Boolean)).toHaveLength({ local: 10, open: 200, closed: 0 }[mode]);
      expect(time.timers).toBe(timers);
      expect(await store.unseen()).toBe(0);
    },
  );

  it('rejects a reset at once; what is settled or refunded it hears when it is found', async () => {
    const replica = openSilent({ p: HOURLY });
    await lose(replica);
    const { limiter, store } = replica;
    const refusal = { code: 'RL_STORE_FAILED', retryable: true, fault: 'connection' };
    await expect(limiter.reset({ p: 'k' })).rejects.toMatchObject(refusal);
    const back = await limiter.refund({ p: 'other' }, { cost: 5 });
    expect(back).toMatchObject({ allowed: true, remaining: 10, origin: 'fallback' });
    const settled = await limiter.settle({ p: 'k' }, { estimate: 1, cost: 4 });
    expect(settled).toMatchObject({ remaining: 7, origin: 'fallback' });
    const decision = await limiter.consume({ p: 'k' }, { cost: 2 });
    const refunded = await limiter.refund({ p: 'k' }, { cost: 2, decision });
    expect(refunded).toMatchObject({ remaining: 7, origin: 'fallback' });
    expect(limiter.health().owed).toBe(1);
    expect([store.refunds, store.payments]).toEqual([[], []]);
    await find(replica);
    expect(store.refunds).toEqual([{ permits: 5, takenAtMs: undefined }]);
    expect(paid(replica)).toEqual([['k', 3]]);
  });
});

describe('probes of a lost store', () => {
  it('go out by a timer, one at a time, and about the bucket that failed last', async () => {
    const replica = openSilent({ p: HOURLY });
    await lose(replica);
    const { store, time } = replica;
    await time.pass(99);
    expect(await store.unseen()).toBe(0);
    await time.pass(1);
    const probe = await store.checked();
    expect(probe.asked).toEqual({ policy: PROBE, key: 'loser', cost: 1 });
    await time.pass(204);
    expect(await store.unseen()).toBe(0);
    await time.pass(1);
    expect((await store.checked()).asked.policy).toBe(PROBE);
  });

  it('are sent by a call, where the timer is late', async () => {
    const replica = openSilent({ p: HOURLY });
    await lose(replica);
    replica.time.clock.advance(100);
    replica.limiter.tryConsume({ p: 'k' });
    expect((await replica.store.checked()).asked.policy).toBe(PROBE);
    await replica.time.pass(100);
    expect(await replica.store.unseen()).toBe(0);
  });

  it('that are refused are followed by later ones', async () => {
    const replica = openSilent({ p: HOURLY });
    await lose(replica);
    for (const ms of [100, 200, 250, 250, 250]) {
      await replica.time.pass(ms);
      await (await replica.store.checked()).fail(refused());
    }
    expect(replica.limiter.health().store).toBe('lost');
  });

  it('find nothing where their answer is late', async () => {
    const replica = openSilent({ p: HOURLY });
    await lose(replica);
    await replica.time.pass(100);
    const probe = await replica.store.checked();
    await replica.time.pass(5);
    await probe.answer(fits(PROBE));
    expect(replica.limiter.health().store).toBe('lost');
  });

  it('are 16 at most whose answers do not come, and one more each minute', async () => {
    const replica = openSilent({ p: HOURLY });
    await lose(replica);
    const { store, time } = replica;
    let probes = 0;
    const look = async (ms: number) => {
      for (let i = 0; i < ms; i += 100) {
        await time.pass(100);
        if ((await store.unseen()) === 0) continue;
        await store.checked();
        probes++;
      }
    };
    await look(20_000);
    expect(probes).toBe(16);
    await look(60_000);
    expect(probes).toBe(17);
  });

  it('go on at once when one of 16 is answered late', async () => {
    const replica = openSilent({ p: HOURLY });
    await lose(replica);
    const { store, time } = replica;
    const probes = [];
    for (let i = 0; i < 200; i++) {
      await time.pass(100);
      if ((await store.unseen()) > 0) probes.push(await store.checked());
    }
    expect(probes).toHaveLength(16);
    await probes[0]?.answer(fits(PROBE));
    await time.pass(2);
    expect(await store.unseen()).toBe(1);
  });

  it('end when the limiter is closed', async () => {
    const replica = openSilent({ p: HOURLY });
    await lose(replica);
    await replica.limiter.close();
    await replica.time.pass(1000);
    expect(replica.time.timers).toBe(0);
    expect(await replica.store.unseen()).toBe(0);
  });
});

describe('a store that is found', () => {
  it('is charged all that is owed, and asked for no decision yet', async () => {
    const replica = openSilent({ p: HOURLY });
    await lose(replica);
    const { limiter, store } = replica;
    limiter.tryConsume({ p: 'a' }, { cost: 3 });
    limiter.tryConsume({ p: 'b' }, { cost: 4 });
    await find(replica);
    expect(limiter.health().store).toBe('returning');
    expect(paid(replica)).toEqual([
      ['a', 3],
      ['b', 4],
    ]);
    expect(limiter.tryConsume({ p: 'a' })).toMatchObject({ remaining: 6, origin: 'fallback' });
    expect(await store.unseen()).toBe(0);
    // What is admitted now is charged now.
    expect(paid(replica)).toHaveLength(3);
  });

  it('is asked again when the others have had the time to find it', async () => {
    const replica = openSilent({ p: HOURLY });
    await lose(replica);
    await find(replica);
    await replica.time.pass(RETURN_MS - 1);
    expect(replica.limiter.tryConsume({ p: 'k' })).toMatchObject({ origin: 'fallback' });
    await replica.time.pass(1);
    expect(replica.limiter.health().store).toBe('up');
    expect(replica.limiter.tryConsume({ p: 'k' })).toBeUndefined();
  });

  it('is asked again by a call, where the timer is late', async () => {
    const replica = openSilent({ p: HOURLY });
    await lose(replica);
    await find(replica);
    replica.time.clock.advance(RETURN_MS);
    expect(replica.limiter.tryConsume({ p: 'k' })).toBeUndefined();
    expect(replica.limiter.health().store).toBe('up');
  });

  it('is asked again at once where nothing was admitted without it', async () => {
    const replica = openSilent({ p: HOURLY, q: HOURLY }, { mode: 'closed' });
    await lose(replica);
    await find(replica);
    expect(replica.limiter.health().store).toBe('up');
  });

  it('waits for others where one policy admits without it', async () => {
    const policies = { p: HOURLY, q: { ...HOURLY, fallback: 'open' } } as const;
    const replica = openSilent(policies, { mode: 'closed' });
    await lose(replica);
    await find(replica);
    expect(replica.limiter.health().store).toBe('returning');
  });

  it('is lost once more where it does not hear, and what it did not hear is owed and paid again', async () => {
    const replica = openSilent({ p: HOURLY });
    await lose(replica);
    replica.limiter.tryConsume({ p: 'k' }, { cost: 3 });
    await find(replica);
    expect(paid(replica)).toEqual([['k', 3]]);
    const late = replica.store.payments.pop();
    for (let i = 0; i < 5; i++) {
      expect(replica.limiter.health().store).toBe('returning');
      // Each is paid for at once, and not answered.
      replica.limiter.tryConsume({ p: `${i}` });
      replica.store.payments.pop();
      await replica.time.pass(25);
    }
    expect(replica.limiter.health().store).toBe('lost');
    await find(replica, 80);
    expect(paid(replica)).toContainEqual(['k', 3]);
    // It had heard the first one.
    const again = replica.store.payments.find(({ key }) => key === 'k');
    await again?.succeed();
    await late?.succeed();
    expect(replica.store.refunds).toEqual([{ permits: 3, takenAtMs: STORE_MS }]);
  });

  it.each(['token-bucket', 'fixed-window'] as const)(
    'gives back to a %s what it was charged with for a call that did not happen',
    async (algorithm) => {
      const replica = openSilent({ p: { ...HOURLY, algorithm } });
      const { limiter, store } = replica;
      await lose(replica);
      await find(replica);
      const decision = limiter.tryConsume({ p: 'k' }, { cost: 3 });
      await store.payments[0]?.succeed();
      await limiter.refund({ p: 'k' }, { cost: 3, decision });
      await everyTurn();
      expect(store.refunds).toEqual([{ permits: 3, takenAtMs: STORE_MS }]);
      expect(limiter.health().owed).toBe(0);
    },
  );

  it('is not lost by one payment that takes too long, and is not asked for it once more', async () => {
    const replica = openSilent({ p: HOURLY });
    await lose(replica);
    replica.limiter.tryConsume({ p: 'k' }, { cost: 3 });
    await find(replica);
    await replica.time.pass(5);
    expect(replica.limiter.health().store).toBe('returning');
    replica.limiter.tryConsume({ p: 'k' }, { cost: 2 });
    expect(paid(replica)).toEqual([
      ['k', 3],
      ['k', 2],
    ]);
  });

  it('and does not take a payment is asked for it once more when it is up', async () => {
    const replica = openSilent({ p: HOURLY });
    await lose(replica);
    replica.limiter.tryConsume({ p: 'k' }, { cost: 3 });
    await find(replica);
    await replica.store.payments.splice(0)[0]?.fail(new TypeError('no such key'));
    expect(replica.limiter.health()).toMatchObject({ store: 'returning', owed: 1 });
    await replica.time.pass(RETURN_MS);
    expect(paid(replica)).toEqual([['k', 3]]);
  });

  it('gives back what it charged too late for calls that were denied', async () => {
    const replica = openSilent({ p: { ...HOURLY, fallback: 'closed' }, q: HOURLY });
    const { limiter, store, time } = replica;
    void limiter.consume({ p: 'k' }, { cost: 3 });
    const check = await store.checked();
    await time.pass(5);
    await lose(replica, 'q');
    await check.answer(fits(check.asked.policy));
    expect(store.refunds).toEqual([]);
    await find(replica);
    await everyTurn();
    expect(store.refunds.map(({ permits }) => permits)).toEqual([3]);
  });

  it('puts back and resets at once, and is charged for what a settlement takes', async () => {
    const replica = openSilent({ p: HOURLY });
    await lose(replica);
    await find(replica);
    const { limiter, store } = replica;
    await limiter.refund({ p: 'k' }, { cost: 2 });
    expect(store.refunds).toEqual([{ permits: 2, takenAtMs: undefined }]);
    await limiter.settle({ p: 'k' }, { estimate: 1, cost: 4 });
    expect(paid(replica)).toEqual([['k', 3]]);
    limiter.tryConsume({ p: 'k' }, { cost: 2 });
    expect(limiter.tryConsume({ p: 'k' })?.allowed).toBe(false);
    await limiter.reset({ p: 'k' });
    expect(limiter.tryConsume({ p: 'k' })?.allowed).toBe(true);
  });
});

describe('closing', () => {
  it('while the store is lost is done at once; what is owed is not charged', async () => {
    const replica = openSilent({ p: HOURLY });
    await lose(replica);
    replica.limiter.tryConsume({ p: 'k' });
    await replica.limiter.close();
    await replica.time.pass(1000);
    expect(paid(replica)).toEqual([]);
    expect(replica.time.timers).toBe(0);
  });

  it('charges what is owed, and is done when that is known', async () => {
    const replica = openSilent({ p: HOURLY });
    void replica.limiter.consume({ p: 'k' }, { cost: 3 });
    await replica.time.pass(5);
    let isDone = false;
    const closing = replica.limiter.close().then(() => (isDone = true));
    await everyTurn();
    expect(paid(replica)).toEqual([['k', 3]]);
    expect(isDone).toBe(false);
    await replica.store.payments[0]?.succeed();
    expect(isDone).toBe(true);
    await closing;
    await replica.time.pass(10);
    expect(replica.time.timers).toBe(0);
  });

  it('while what is owed is being charged is done when that is known', async () => {
    const replica = openSilent({ p: HOURLY });
    await lose(replica);
    replica.limiter.tryConsume({ p: 'k' });
    await find(replica);
    expect(paid(replica)).toEqual([['k', 1]]);
    let isDone = false;
    const closing = replica.limiter.close().then(() => (isDone = true));
    await everyTurn();
    expect(isDone).toBe(false);
    await replica.store.payments[0]?.succeed();
    await closing;
    expect(paid(replica)).toHaveLength(1);
  });

  it('is done after a second where nothing is heard of that', async () => {
    const replica = openSilent({ p: HOURLY });
    void replica.limiter.consume({ p: 'k' });
    await replica.time.pass(5);
    let isDone = false;
    void replica.limiter.close().then(() => (isDone = true));
    await replica.time.pass(999);
    expect(isDone).toBe(false);
    await replica.time.pass(1);
    expect(isDone).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../src/limiter/limiter.js';
import {
  BIG,
  five,
  NEVER_AHEAD,
  open,
  openDenied,
  openWarm,
  origins,
  SMALL,
  SMALL_POLICY,
  spend,
  warm,
} from '../support/answered-replica.js';
import { fits, grantOf, STORE_MS, together } from '../support/answered-store.js';
import { asyncResourcesOf } from '../support/async-resources.js';
import { PATIENT } from '../support/patient.js';

describe('when a lease is asked for', () => {
  it('before what is held has run dry, which is spent meanwhile', async () => {
    const replica = await openWarm({ p: BIG });
    spend(replica, 496);
    expect(await replica.store.unseen()).toBe(0);
    spend(replica, 1);
    const { asked } = await replica.store.claimed();
    expect(asked).toMatchObject({ costs: [], extra: 500 });
    expect(asked.reports).toEqual([{ epoch: 1, spent: 497, returned: 0 }]);
    expect(origins(spend(replica, 4))).toEqual(['lease', 'lease', 'lease', undefined]);
  });

  it('once for all calls that wait, and the answer serves those that come meanwhile', async () => {
    const { limiter, store } = open({ p: SMALL });
    const first = [5, 5].map((cost) => limiter.consume({ p: 'k' }, { cost }));
    const claim = await store.claimed();
    expect(claim.asked.costs).toEqual([5, 5]);
    const later = [1, 2, 2].map((cost) => limiter.consume({ p: 'k' }, { cost }));
    expect(await store.unseen()).toBe(0);
    await claim.answer(grantOf(claim.asked, { permits: 5 }));
    expect(origins(await Promise.all(first))).toEqual(['store', 'store']);
    expect(origins(await Promise.all(later))).toEqual(['lease', 'lease', 'lease']);
    expect(await store.unseen()).toBe(0);
  });

  it('never of a bucket that sees a call a second', async () => {
    const { limiter, store, clock } = open({ p: BIG });
    for (let i = 0; i < 20; i++) {
      const call = limiter.consume({ p: 'k' });
      const check = await store.checked();
      await check.answer(fits(check.asked.policy));
      expect((await call).origin).toBe('store');
      clock.advance(1000);
    }
  });

  it('not for a first call that takes a millisecond to be sent', async () => {
    const { limiter, store, clock } = open({ p: BIG });
    void limiter.consume({ p: 'k' });
    clock.advance(1);
    expect((await store.checked()).asked.cost).toBe(1);
  });

  it('by each of two limiters on one store for itself', async () => {
    const a = open({ p: SMALL });
    const b = createLimiter({
      policies: { p: SMALL },
      store: a.store,
      fallback: PATIENT,
      clock: a.clock,
    });
    together(a.limiter, 10);
    const ofA = await a.store.claimed();
    together(b, 10);
    const ofB = await a.store.claimed();
    expect(ofA.asked.holder).not.toBe(ofB.asked.holder);
    await ofA.answer(grantOf(ofA.asked));
    expect(b.tryConsume({ p: 'k' })).toBeUndefined();
    expect(origins(spend(a, 5))).toEqual(five);
  });
});

describe('what is held', () => {
  it('is spent for 95 % of its life from when the claim was sent', async () => {
    const replica = await openWarm({ p: SMALL }, { answerAfterMs: 40, lifeMs: 800 });
    replica.clock.advance(800 * 0.95 - 40 - 2);
    expect(origins(spend(replica, 1))).toEqual(['lease']);
    replica.clock.advance(1);
    expect(spend(replica, 1)).toEqual([undefined]);
  });

  it('goes back with the first claim after its time', async () => {
    const replica = await openWarm();
    spend(replica, 2);
    replica.clock.advance(950);
    void replica.limiter.consume({ p: 'k' });
    const { asked } = await replica.store.claimed();
    expect(asked.reports).toEqual([{ epoch: 1, spent: 2, returned: 3 }]);
  });

  it('goes back on close', async () => {
    const replica = await openWarm();
    spend(replica, 2);
    const closed = replica.limiter.close();
    const claim = await replica.store.claimed();
    expect(claim.asked).toMatchObject({ costs: [], extra: 0 });
    expect(claim.asked.reports).toEqual([{ epoch: 1, spent: 2, returned: 3 }]);
    await claim.answer(grantOf(claim.asked));
    await closed;
  });

  it('is of one epoch under the latest deadline, and told once', async () => {
    const replica = await openWarm();
    spend(replica, 5);
    replica.clock.advance(500);
    await warm(replica);
    replica.clock.advance(900);
    expect(origins(spend(replica, 5))).toEqual(five);
    void replica.limiter.close();
    const { asked } = await replica.store.claimed();
    expect(asked.reports).toEqual([{ epoch: 1, spent: 5, returned: 0 }]);
  });

  it('is forgotten on reset', async () => {
    const replica = await openWarm();
    await replica.limiter.reset({ p: 'k' });
    expect(spend(replica, 1)).toEqual([undefined]);
    await replica.limiter.close();
    expect(await replica.store.unseen()).toBe(0);
  });

  it('does not decide a cost of 0', async () => {
    const replica = await openWarm();
    const peek = replica.limiter.peek({ p: 'k' });
    const check = await replica.store.checked();
    expect(check.asked.cost).toBe(0);
    await check.answer(fits(check.asked.policy, 3));
    expect(await peek).toMatchObject({ origin: 'store', remaining: 3 });
  });

  it('bears the store’s time of its grant, for a refund', async () => {
    const replica = await openWarm();
    replica.clock.advance(500);
    const [decision] = spend(replica, 1);
    expect(decision?.decidedAtMs).toBe(STORE_MS);
  });
});

describe('a grant that is short', () => {
  it('because nothing is left: spent, then denied from memory until a permit is there', async () => {
    const replica = await openWarm({ p: SMALL }, { permits: 2, left: fits(SMALL_POLICY, 0) });
    expect(origins(spend(replica, 3))).toEqual(['lease', 'lease', 'memory']);
    expect(spend(replica, 1)).toMatchObject([{ allowed: false, retryAfterMs: 100 }]);
    expect(await replica.store.unseen()).toBe(0);
    replica.clock.advance(98);
    spend(replica, 1);
    expect(await replica.store.unseen()).toBe(0);
    replica.clock.advance(2);
    expect(spend(replica, 1)).toEqual([undefined]);
  });

  it('because others hold the share: calls go to the store', async () => {
    const replica = await openWarm({ p: SMALL }, { permits: 0, left: fits(SMALL_POLICY, 5) });
    expect(spend(replica, 1)).toEqual([undefined]);
    void replica.limiter.consume({ p: 'k' });
    expect((await replica.store.claimed()).asked.costs).toEqual([1]);
  });

  it('because others hold the share: nothing is asked in advance before the pace', async () => {
    const replica = await openWarm({ p: SMALL }, { permits: 1, left: fits(SMALL_POLICY, 5) });
    spend(replica, 1);
    replica.clock.advance(59);
    spend(replica, 1);
    expect(await replica.store.unseen()).toBe(0);
  });
});

describe('an answer', () => {
  it('that is void: the calls are asked for again, in their order, what was told is not', async () => {
    const replica = await openWarm();
    const { limiter, store } = replica;
    spend(replica, 3);
    const calls = [limiter.consume({ p: 'k' }, { cost: 4 })];
    const lost = await store.claimed();
    calls.push(limiter.consume({ p: 'k' }, { cost: 3 }));
    await lost.answer(undefined);
    const again = await store.claimed();
    expect(lost.asked).toMatchObject({ costs: [4], reports: [{ epoch: 1, spent: 3 }] });
    expect(again.asked).toMatchObject({ costs: [4, 3], reports: [] });
    expect(again.asked.turn).toBeGreaterThan(lost.asked.turn);
    await again.answer(grantOf(again.asked));
    expect(origins(await Promise.all(calls))).toEqual(['store', 'store']);
  });

  it('that is a failure rejects those that wait, and what was told is not told again', async () => {
    const replica = await openWarm();
    const { limiter, store } = replica;
    spend(replica, 3);
    const call = limiter.consume({ p: 'k' }, { cost: 4 });
    const lost = await store.claimed();
    const later = limiter.consume({ p: 'k' }, { cost: 3 });
    const rejected = expect(call).rejects.toThrow('cut off');
    await lost.fail(new Error('cut off'));
    await rejected;
    const next = await store.claimed();
    expect(next.asked).toMatchObject({ costs: [3], reports: [] });
    await next.answer(grantOf(next.asked));
    expect((await later).origin).toBe('store');
  });

  it('that never comes is awaited for the ttl', async () => {
    const { limiter, store, clock } = open({ p: SMALL });
    together(limiter, 10);
    await store.claimed();
    const calls = [limiter.consume({ p: 'k' })];
    clock.advance(999);
    calls.push(limiter.consume({ p: 'k' }));
    expect(await store.unseen()).toBe(0);
    clock.advance(1);
    calls.push(limiter.consume({ p: 'k' }));
    const claim = await store.claimed();
    expect(claim.asked.costs).toEqual([1, 1, 1]);
    await claim.answer(grantOf(claim.asked));
    expect(origins(await Promise.all(calls))).toEqual(['store', 'store', 'store']);
  });

  it('that is late still counts from when its claim was sent', async () => {
    const replica = open({ p: SMALL });
    const [call] = together(replica.limiter, 10);
    const late = await replica.store.claimed();
    replica.clock.advance(960);
    await late.answer(grantOf(late.asked));
    expect((await call)?.allowed).toBe(true);
    expect(spend(replica, 1)).toEqual([undefined]);
  });

  it('comes for all calls that were made before close, then what is left goes back', async () => {
    const { limiter, store } = open({ p: SMALL });
    const calls = together(limiter, 10);
    const first = await store.claimed();
    calls.push(limiter.consume({ p: 'k' }, { cost: 8 }));
    const closed = limiter.close();
    await first.answer(grantOf(first.asked));
    const second = await store.claimed();
    const reports = [{ epoch: 1, spent: 0, returned: 5 }];
    expect(second.asked).toMatchObject({ costs: [8], reports, extra: 0 });
    await second.answer(grantOf(second.asked));
    await closed;
    expect(new Set(origins(await Promise.all(calls)))).toEqual(new Set(['store']));
  });
});

it('calls with values of their own are asked for by these, one claim after the other', async () => {
  const { limiter, store } = open({ p: SMALL });
  const policies = { p: { limit: 40 } };
  const calls = [...together(limiter, 10), limiter.consume({ p: 'k' }, { cost: 30, policies })];
  for (const limit of [10, 40]) {
    const claim = await store.claimed();
    expect(claim.asked.policy.limit).toBe(limit);
    await claim.answer(grantOf(claim.asked));
  }
  const limits = (await Promise.all(calls)).map(({ limit }) => limit);
  expect([...new Set(limits)]).toEqual([10, 40]);
  expect(limits.at(-1)).toBe(40);
});

describe('on the event loop', () => {
  it('G8 a decision from a warm lease makes no promise, no timer and no call', async () => {
    const replica = await openWarm({ p: BIG });
    const origin: (string | undefined)[] = [];
    const kinds = asyncResourcesOf(() => {
      for (let i = 0; i < 400; i++) origin.push(replica.limiter.tryConsume({ p: 'k' })?.origin);
    });
    expect(kinds).toEqual([]);
    expect(origin).toEqual(Array(400).fill('lease'));
    expect(await replica.store.unseen()).toBe(0);
  });

  it('G8 asking ahead makes one immediate for a claim, and nothing else', async () => {
    const replica = await openWarm({ p: BIG });
    spend(replica, 496);
    expect(asyncResourcesOf(() => spend(replica, 4))).toEqual(['Immediate']);
    const claim = await replica.store.claimed();
    expect(asyncResourcesOf(() => spend(replica, 4))).toEqual([]);
    await claim.answer(grantOf(claim.asked));
    expect(asyncResourcesOf(() => spend(replica, 4))).toEqual([]);
  });

  it('G8 a denial from memory makes nothing either', async () => {
    const replica = await openDenied(NEVER_AHEAD, 300);
    const origin: (string | undefined)[] = [];
    const kinds = asyncResourcesOf(() => origin.push(...origins(spend(replica, 100))));
    expect(kinds).toEqual([]);
    expect(origin).toEqual(Array(100).fill('memory'));
  });
});

import { describe, expect, it } from 'vitest';
import type { Charge } from '../../src/store/store.js';
import {
  five,
  open,
  origins,
  SMALL,
  SMALL_POLICY,
  spend,
  warm,
} from '../support/answered-replica.js';
import { doesNotFit, fits, STORE_MS } from '../support/answered-store.js';

describe('a call under several policies', () => {
  const keys = { p: 'k', q: 'k' };

  it('is decided at once where all are held', async () => {
    const replica = open({ p: SMALL, q: SMALL });
    await warm(replica);
    await warm(replica, { policy: 'q' });
    const decision = replica.limiter.tryConsume(keys);
    expect(decision).toMatchObject({ allowed: true, origin: 'lease' });
    expect(decision?.each).toHaveLength(2);
    expect(origins(spend(replica, 5))).toEqual([...five.slice(1), undefined]);
    expect(origins(spend(replica, 5, 'q'))).toEqual([...five.slice(1), undefined]);
  });

  it('spends nothing of one lease where another is not held', async () => {
    const replica = open({ p: SMALL, q: SMALL });
    await warm(replica);
    expect(replica.limiter.tryConsume(keys)).toBeUndefined();
    expect(origins(spend(replica, 5))).toEqual(five);
  });

  it('asks for a cost of 0 what is held, too', async () => {
    const replica = open({ p: SMALL, q: SMALL });
    await warm(replica);
    void replica.limiter.peek(keys);
    const { asked } = await replica.store.checkedAll();
    expect(asked.map(({ policy }) => policy.name)).toEqual(['p', 'q']);
  });

  it('spends nothing where a remembered denial decides', async () => {
    const replica = open({ p: SMALL, q: { limit: 1, window: '1h' } });
    await warm(replica);
    void replica.limiter.consume({ q: 'k' });
    const check = await replica.store.checked();
    await check.answer(doesNotFit(check.asked.policy, 500));
    const denied = replica.limiter.tryConsume(keys);
    expect(denied).toMatchObject({ allowed: false, policy: 'q', retryAfterMs: 500 });
    expect(origins(spend(replica, 5))).toEqual(five);
  });

  it.each([
    { answer: 'fits', left: 4 },
    { answer: 'does not fit', left: 5 },
    { answer: 'fails', left: 5 },
  ])('asks for the others; $answer: $left of 5 permits are left', async ({ answer, left }) => {
    const replica = open({ p: SMALL, q: SMALL });
    await warm(replica);
    const call = replica.limiter.consume(keys).catch(() => undefined);
    const check = await replica.store.checkedAll();
    expect(check.asked.map(({ policy }) => policy.name)).toEqual(['q']);
    const { policy } = check.asked[0] as Charge;
    expect(origins(spend(replica, 5))).toEqual([...five.slice(1), undefined]);
    if (answer === 'fits') await check.answer([fits(policy)]);
    if (answer === 'does not fit') await check.answer([doesNotFit(policy, 500)]);
    if (answer === 'fails') await check.fail(new Error('cut off'));
    expect((await call)?.allowed).toBe({ fits: true, 'does not fit': false }[answer]);
    expect(origins(spend(replica, left - 4))).toEqual(five.slice(4, left));
    expect(spend(replica, 1)).toEqual([undefined]);
  });

  it('bears the time of the grant that it is spent from, where an older one is over', async () => {
    const replica = open({ p: SMALL, q: SMALL });
    const { limiter, store, clock } = replica;
    await warm(replica);
    spend(replica, 3);
    clock.advance(50);
    const left = { ...fits(SMALL_POLICY), decidedAtMs: STORE_MS + 50 };
    await warm(replica, { epoch: 2, left });
    clock.advance(905);
    const call = limiter.consume(keys);
    const check = await store.checkedAll();
    await check.answer([fits((check.asked[0] as Charge).policy)]);
    const { each } = await call;
    expect(each?.[0]).toMatchObject({ origin: 'lease', decidedAtMs: STORE_MS + 50 });
  });

  it('does not tell of what it put aside before the store has decided', async () => {
    const replica = open({ p: SMALL, q: SMALL });
    await warm(replica);
    void replica.limiter.consume(keys);
    const check = await replica.store.checkedAll();
    spend(replica, 2);
    // A refund goes behind what there is to tell, also one of nothing.
    const tell = () => replica.limiter.refund({ p: 'k' }, { cost: 0 });
    await tell();
    expect((await replica.store.claimed()).asked.reports).toEqual([
      { epoch: 1, spent: 2, returned: 0 },
    ]);
    const { policy } = check.asked[0] as Charge;
    await check.answer([fits(policy)]);
    await tell();
    expect((await replica.store.claimed()).asked.reports).toEqual([
      { epoch: 1, spent: 1, returned: 0 },
    ]);
  });
});

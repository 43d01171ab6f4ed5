import { afterEach, describe, expect, it } from 'vitest';
import { RETURN_MS } from '../../src/fallback/breaker.js';
import { Payments } from '../../src/fallback/payments.js';
import { type Policy, parsePolicy } from '../../src/policy/policy.js';
import { STORE_MS } from '../support/answered-store.js';
import { closeAll, find, lose, openSilent } from '../support/silent-replica.js';

const POLICY: Policy = parsePolicy('p', { limit: 10, window: '1d', algorithm: 'fixed-window' }, '');

afterEach(closeAll);

describe('when the store was charged for what was admitted without it', () => {
  it('is known of what the last payment covers', () => {
    const payments = new Payments();
    payments.note(POLICY, 'k', 100, 7000);
    payments.note(POLICY, 'k', 200, 8000);
    const charged = [100, 101, 200, 201].map((atMs) => payments.chargedAtMs(POLICY, 'k', atMs));
    expect(charged).toEqual([undefined, 8000, 8000, undefined]);
    expect(payments.chargedAtMs(POLICY, 'other', 150)).toBeUndefined();
  });

  it('is kept of 50,000 buckets, and nothing is made up of those that are forgotten', () => {
    const payments = new Payments();
    for (let i = 0; i < 50_001; i++) payments.note(POLICY, `${i}`, i, 7000);
    expect(payments.chargedAtMs(POLICY, '0', 0)).toBeUndefined();
    expect(payments.chargedAtMs(POLICY, '1', 1)).toBe(7000);
    payments.note(POLICY, '0', 60_000, 9000);
    expect(payments.chargedAtMs(POLICY, '0', 0)).toBeUndefined();
    expect(payments.chargedAtMs(POLICY, '0', 60_000)).toBe(9000);
  });
});

it('what a call gives back that was admitted without the store goes to the window it was charged to', async () => {
  const replica = openSilent({ p: { limit: 10, window: '1d', algorithm: 'fixed-window' } });
  const { limiter, store, time } = replica;
  await lose(replica);
  const decision = limiter.tryConsume({ p: 'k' }, { cost: 4 });
  if (decision === undefined) throw new Error('the store is not lost');
  await time.pass(1);
  await find(replica, 99);
  await store.payments[0]?.succeed();
  await time.pass(RETURN_MS);
  await limiter.settle({ p: 'k' }, { estimate: 4, cost: 1, decision });
  expect(store.refunds).toEqual([{ permits: 3, takenAtMs: STORE_MS }]);
});

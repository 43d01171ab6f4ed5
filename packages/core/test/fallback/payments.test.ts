import { beforeEach, expect, it } from 'vitest';
import { Payments } from '../../src/fallback/payments.js';
import { type Policy, parsePolicy } from '../../src/policy/policy.js';
import { keptBy, keysCutFromHeaders } from '../support/kept-memory.js';

const POLICY: Policy = parsePolicy('p', { limit: 10, window: '1s' }, '');

let payments: Payments;
beforeEach(() => {
  payments = new Payments();
});

it('what was admitted up to a payment was charged with it', () => {
  expect(payments.chargedAtMs(POLICY, 'k', 100)).toBeUndefined();
  payments.note(POLICY, 'k', 100, 5000);
  expect([50, 100, 101].map((atMs) => payments.chargedAtMs(POLICY, 'k', atMs))).toEqual([
    5000,
    5000,
    undefined,
  ]);
});

it('of the payment before the last one nothing is known', () => {
  payments.note(POLICY, 'k', 100, 5000);
  payments.note(POLICY, 'k', 200, 6000);
  expect([100, 101, 200].map((atMs) => payments.chargedAtMs(POLICY, 'k', atMs))).toEqual([
    undefined,
    6000,
    6000,
  ]);
});

it('a bucket is a policy name, an algorithm and a key', () => {
  payments.note(POLICY, 'k', 100, 5000);
  const windows = parsePolicy('p', { algorithm: 'fixed-window', limit: 10, window: '1s' }, '');
  const other = parsePolicy('q', { limit: 10, window: '1s' }, '');
  const tier = parsePolicy('p', { limit: 99, window: '1s' }, '');
  expect(payments.chargedAtMs(windows, 'k', 100)).toBeUndefined();
  expect(payments.chargedAtMs(other, 'k', 100)).toBeUndefined();
  expect(payments.chargedAtMs(POLICY, 'l', 100)).toBeUndefined();
  expect(payments.chargedAtMs(tier, 'k', 100)).toBe(5000);
});

it('50,000 are kept, those made last; of what was paid with others nothing is said', () => {
  for (let i = 0; i < 50_000; i++) payments.note(POLICY, `${i}`, i, 5000);
  // The first one was made once more, and stays.
  payments.note(POLICY, '0', 60_000, 6000);
  payments.note(POLICY, 'more', 60_001, 7000);
  expect(payments.chargedAtMs(POLICY, '0', 60_000)).toBe(6000);
  expect(payments.chargedAtMs(POLICY, '1', 1)).toBeUndefined();
  expect(payments.chargedAtMs(POLICY, '2', 2)).toBe(5000);
  // Of the one that was forgotten, what was admitted before counts as paid with that.
  payments.note(POLICY, '1', 70_000, 8000);
  expect(payments.chargedAtMs(POLICY, '1', 1)).toBeUndefined();
  expect(payments.chargedAtMs(POLICY, '1', 70_000)).toBe(8000);
});

it('keys cut out of a header do not keep it in memory', async () => {
  const kept = await keptBy(() => {
    let i = 0;
    for (const key of keysCutFromHeaders()) payments.note(POLICY, key, i++, 5000);
  });
  expect(kept).toBeLessThan(3_000_000);
  expect(payments.chargedAtMs(POLICY, '2001:db8:0:0:0:0:0:0', 0)).toBe(5000);
});

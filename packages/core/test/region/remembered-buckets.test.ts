import { expect, it } from 'vitest';
import { parsePolicy } from '../../src/policy/policy.js';
import { RememberedBuckets } from '../../src/region/remembered-buckets.js';

const policy = parsePolicy('p', { limit: 100, window: '1s' }, '');
const other = parsePolicy('q', { limit: 100, window: '1s' }, '');
const keysOf = (buckets: readonly { readonly key: string }[]) => buckets.map(({ key }) => key);

it('gives what is due, once, in the order it came', () => {
  const buckets = new RememberedBuckets();
  for (const [i, key] of ['b', 'a', 'c'].entries()) buckets.add(policy, key, 10 * i);
  expect(buckets.take(-1, 9)).toEqual([]);
  expect(buckets.take(10, 9)).toEqual([
    { policy, key: 'b', dueAtMs: 0 },
    { policy, key: 'a', dueAtMs: 10 },
  ]);
  expect(buckets.take(10, 9)).toEqual([]);
  expect(keysOf(buckets.take(20, 9))).toEqual(['c']);
  expect(buckets.size).toBe(0);
});

it('gives no more than it is asked for', () => {
  const buckets = new RememberedBuckets();
  for (const key of ['a', 'b', 'c']) buckets.add(policy, key, 0);
  expect(keysOf(buckets.take(0, 0))).toEqual([]);
  expect(keysOf(buckets.take(0, 2))).toEqual(['a', 'b']);
  expect(keysOf(buckets.take(0, 2))).toEqual(['c']);
});

it('has a bucket once, as it came last', () => {
  const buckets = new RememberedBuckets();
  buckets.add(policy, 'a', 0);
  buckets.add(policy, 'b', 5);
  buckets.add(policy, 'a', 10);
  expect(buckets.size).toBe(2);
  expect(buckets.take(10, 9).map(({ key, dueAtMs }) => [key, dueAtMs])).toEqual([
    ['b', 5],
    ['a', 10],
  ]);
});

it('tells the buckets of two policies apart', () => {
  const buckets = new RememberedBuckets();
  buckets.add(policy, 'a', 0);
  buckets.add(other, 'a', 0);
  expect(buckets.take(0, 9).map((bucket) => bucket.policy.name)).toEqual(['p', 'q']);
});

it('remembers 10000, and forgets the first for one more', () => {
  const buckets = new RememberedBuckets();
  for (let i = 0; i < 10_000; i++) buckets.add(policy, `k${i}`, 0);
  buckets.add(policy, 'k5', 0);
  expect(buckets.size).toBe(10_000);
  buckets.add(policy, 'more', 0);
  expect(buckets.size).toBe(10_000);
  const keys = keysOf(buckets.take(0, 20_000));
  expect([keys[0], keys.at(-2), keys.at(-1)]).toEqual(['k1', 'k5', 'more']);
});

it('remembers a key of 200 characters, and none that is longer', () => {
  const buckets = new RememberedBuckets();
  buckets.add(policy, 'k'.repeat(200), 0);
  buckets.add(policy, 'k'.repeat(201), 0);
  expect(keysOf(buckets.take(0, 9))).toEqual(['k'.repeat(200)]);
});

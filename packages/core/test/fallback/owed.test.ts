import { beforeEach, describe, expect, it } from 'vitest';
import { Owed } from '../../src/fallback/owed.js';
import { boundPartitionKey, MAX_TEXT } from '../../src/key/partition-key.js';
import { type Policy, parsePolicy } from '../../src/policy/policy.js';
import { keptBy, keysCutFromHeaders } from '../support/kept-memory.js';

const POLICY: Policy = parsePolicy('p', { limit: 10, window: '1s' }, '');
const OTHER: Policy = parsePolicy('q', { limit: 10, window: '1s' }, '');
const WINDOWS: Policy = parsePolicy(
  'p',
  { algorithm: 'fixed-window', limit: 10, window: '1s' },
  '',
);

let owed: Owed;
beforeEach(() => {
  owed = new Owed();
});

function add(cost: number, key = 'k', policy = POLICY): void {
  owed.add({ policy, key, cost });
}

function take(cost: number, key = 'k', policy = POLICY): number {
  return owed.take({ policy, key, cost });
}

describe('what is owed', () => {
  it('adds up by bucket: a policy name, an algorithm and a key', () => {
    add(1);
    add(2);
    add(4, 'other');
    add(8, 'k', OTHER);
    add(16, 'k', WINDOWS);
    expect(owed.size).toBe(4);
    expect(owed.clear(POLICY, 'k')).toBe(3);
    expect(owed.clear(POLICY, 'other')).toBe(4);
    expect(owed.clear(OTHER, 'k')).toBe(8);
    expect(owed.clear(WINDOWS, 'k')).toBe(16);
    expect(owed.size).toBe(0);
  });

  it('is nothing where a call cost nothing', () => {
    add(0);
    expect(owed.size).toBe(0);
    expect(owed.first(1)).toEqual([]);
  });

  it('is told under the values that the bucket was charged under last', () => {
    const tier = parsePolicy('p', { limit: 99, window: '1s' }, '');
    add(1);
    add(2, 'k', tier);
    expect(owed.first(1)).toEqual([{ policy: tier, key: 'k', cost: 3 }]);
  });

  it('is given in the order in which the buckets came, as many as are asked for', () => {
    add(1, 'a');
    add(1, 'b');
    add(1, 'c');
    add(1, 'a');
    expect(owed.first(2).map(({ key, cost }) => [key, cost])).toEqual([
      ['a', 2],
      ['b', 1],
    ]);
    expect(owed.first(10)).toHaveLength(3);
    expect(owed.size).toBe(3);
  });

  it('of one that was cleared and came again is last', () => {
    add(1, 'a');
    add(1, 'b');
    owed.clear(POLICY, 'a');
    add(1, 'a');
    expect(owed.first(9).map(({ key }) => key)).toEqual(['b', 'a']);
  });
});

describe('what is taken off', () => {
  it('is as much as is owed; the rest is told', () => {
    add(5);
    expect(take(2)).toBe(0);
    expect(owed.first(1)[0]?.cost).toBe(3);
    expect(take(7)).toBe(4);
    expect(owed.size).toBe(0);
    expect(take(7)).toBe(7);
  });

  it('leaves no bucket where it is all of it', () => {
    add(5);
    expect(take(5)).toBe(0);
    expect(owed.size).toBe(0);
  });

  it('changes nothing where it is nothing', () => {
    add(5);
    expect(take(0)).toBe(0);
    expect(owed.first(1)[0]?.cost).toBe(5);
    expect(take(0, 'other')).toBe(0);
  });

  it('is all of one bucket, and 0 where nothing is owed', () => {
    add(5);
    expect(owed.clear(POLICY, 'k')).toBe(5);
    expect(owed.clear(POLICY, 'k')).toBe(0);
  });
});

describe('keys', () => {
  it('that differ have buckets of their own, also where one is what another becomes', () => {
    const long = 'x'.repeat(MAX_TEXT + 1);
    const keys = [long, `${long}x`, boundPartitionKey(long), '%sha256-', 'a:b', 'token-bucket:a:b'];
    keys.forEach((key, i) => {
      add(i + 1, key);
    });
    expect(owed.size).toBe(keys.length);
    expect(keys.map((key) => owed.clear(POLICY, key))).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('are told whole, however long they are: they name the bucket to the store', () => {
    const long = 'x'.repeat(10_000);
    add(1, long);
    expect(owed.first(1)[0]?.key).toBe(long);
  });

  it('are told as they came, whatever is in them', () => {
    const keys = ['\ud800', 'é', 'e\u0301', '\u0000', '日本'];
    for (const key of keys) add(1, key);
    expect(owed.first(9).map(({ key }) => key)).toEqual(keys);
  });

  it('cut out of a header do not keep it in memory', async () => {
    const kept = await keptBy(() => {
      for (const key of keysCutFromHeaders()) add(1, key);
    });
    expect(owed.size).toBe(2000);
    expect(kept).toBeLessThan(3_000_000);
  });
});

describe('where there is no more room', () => {
  it('the bucket that has waited longest of 100,000 is forgotten, and its permits are counted', () => {
    for (let i = 0; i < 100_000; i++) add(2, `${i}`);
    expect([owed.size, owed.forgotten]).toEqual([100_000, 0]);
    // One that is there needs no room.
    add(1, '0');
    expect(owed.forgotten).toBe(0);
    add(1, 'more');
    expect([owed.size, owed.forgotten]).toEqual([100_000, 3]);
    expect(owed.clear(POLICY, '0')).toBe(0);
    expect(owed.clear(POLICY, '1')).toBe(2);
    add(1, 'room again');
    expect(owed.forgotten).toBe(3);
  });

  it('20,000,000 characters of keys are kept, and no more', () => {
    const key = (i: number) => `${i}`.padStart(1_000_000, 'x');
    for (let i = 0; i < 20; i++) add(i + 1, key(i));
    expect([owed.size, owed.forgotten]).toEqual([20, 0]);
    add(100, 'y');
    expect([owed.size, owed.forgotten]).toEqual([20, 1]);
    expect(owed.clear(POLICY, key(0))).toBe(0);
    // What is cleared makes room.
    owed.clear(POLICY, key(1));
    add(100, key(0).slice(1));
    expect(owed.forgotten).toBe(1);
    add(7, 'z'.repeat(20_000_000));
    expect([owed.size, owed.clear(POLICY, 'z'.repeat(20_000_000))]).toEqual([1, 7]);
  });

  it('a key that is longer than all of that is not kept, and puts out no other', () => {
    add(1);
    add(7, 'z'.repeat(20_000_001));
    expect([owed.size, owed.forgotten]).toEqual([1, 7]);
  });
});

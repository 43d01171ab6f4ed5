import { beforeEach, expect, it } from 'vitest';
import { makeDecision } from '../../src/algorithms/make-decision.js';
import { KnownLeft } from '../../src/fallback/known-left.js';
import { boundPartitionKey, MAX_TEXT } from '../../src/key/partition-key.js';
import { type Policy, parsePolicy } from '../../src/policy/policy.js';
import { keptBy, keysCutFromHeaders } from '../support/kept-memory.js';

const POLICY: Policy = parsePolicy('p', { limit: 10, window: '1s' }, '');

let known: KnownLeft;
beforeEach(() => {
  known = new KnownLeft();
});

function note(remaining: number, key = 'k', policy = POLICY, nowMs = 7): void {
  known.note(policy, key, makeDecision(policy, true, remaining, 0, 1, 100, 5, 'store'), nowMs);
}

function take(key = 'k', policy = POLICY): number | undefined {
  return known.take(policy, key)?.remaining;
}

it('what was said last is known, and as of when, once', () => {
  note(9);
  note(4, 'k', POLICY, 8);
  expect(known.take(POLICY, 'k')).toEqual({ remaining: 4, resetAfterMs: 100, atMs: 8 });
  expect(take()).toBeUndefined();
  note(3);
  expect(take()).toBe(3);
});

it('a bucket is a policy name, an algorithm and a key', () => {
  const windows = parsePolicy('p', { algorithm: 'fixed-window', limit: 10, window: '1s' }, '');
  const other = parsePolicy('q', { limit: 10, window: '1s' }, '');
  const tier = parsePolicy('p', { limit: 99, window: '1s' }, '');
  const long = 'x'.repeat(MAX_TEXT + 1);
  note(1);
  note(2, 'k', windows);
  note(3, 'k', other);
  note(4, long);
  note(5, boundPartitionKey(long));
  expect([take('k', tier), take('k', windows), take('k', other)]).toEqual([1, 2, 3]);
  expect([take(long), take(boundPartitionKey(long))]).toEqual([4, 5]);
});

it('the latest 50,000 are known, and fewer than 100,000', () => {
  for (let i = 0; i < 120_000; i++) note(i, `${i}`);
  for (let i = 70_000; i < 120_000; i++) expect(take(`${i}`)).toBe(i);
  for (let i = 0; i < 20_001; i++) expect(take(`${i}`)).toBeUndefined();
});

it('what was taken makes no room that is needed', () => {
  note(1, 'stays');
  for (let i = 0; i < 100_001; i++) {
    note(2);
    take();
  }
  expect(take('stays')).toBe(1);
});

it('what is said again of a bucket that was said of long ago is what is known', () => {
  note(1, 'again');
  for (let i = 0; i < 50_000; i++) note(i, `${i}`);
  note(2, 'again');
  expect(take('again')).toBe(2);
  expect(take('again')).toBeUndefined();
});

it('keys cut out of a header do not keep it in memory', async () => {
  const kept = await keptBy(() => {
    let i = 0;
    for (const key of keysCutFromHeaders()) note(i++, key);
  });
  expect(kept).toBeLessThan(3_000_000);
  expect(take('2001:db8:0:0:0:0:0:7cf')).toBe(1999);
});

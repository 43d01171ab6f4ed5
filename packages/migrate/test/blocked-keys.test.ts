import { ManualClock } from '@rl/core/testing';
import { expect, test } from 'vitest';
import { BlockedKeys } from '../src/blocked-keys.js';

test('a key is blocked for as long as was said, and not a millisecond more', () => {
  const clock = new ManualClock();
  const blocked = new BlockedKeys(clock);
  blocked.note('ann', 1000);
  clock.advance(999);
  expect(blocked.leftMs('ann')).toBe(1);
  expect(blocked.leftMs('bob')).toBe(0);
  clock.advance(1);
  expect(blocked.leftMs('ann')).toBe(0);
});

test('however many keys there are, 10,000 are remembered: those that were noted last', () => {
  const blocked = new BlockedKeys(new ManualClock());
  for (let i = 0; i < 10_001; i++) blocked.note(`${i}`, 1000);
  expect(blocked.leftMs('0')).toBe(0);
  expect(blocked.leftMs('1')).toBe(1000);
  blocked.note('1', 500);
  blocked.note('new', 1000);
  expect(blocked.leftMs('1')).toBe(500);
  expect(blocked.leftMs('2')).toBe(0);
});

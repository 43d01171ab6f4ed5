import { expect, test } from 'vitest';
import { Pacer } from '../src/http-load/pacer.js';

const sum = (counts: readonly number[]): number => counts.reduce((a, b) => a + b, 0);

test('each request is due at its own time: the n-th one n ÷ rate after the first', () => {
  const pacer = new Pacer({ perSecond: 1000, total: 100, lanes: 1 });
  expect(pacer.take(0)).toEqual([1]);
  expect(pacer.take(0.9)).toEqual([0]);
  expect(pacer.take(1)).toEqual([1]);
  expect(pacer.take(3.5)).toEqual([2]);
  expect(pacer.sent).toBe(4);
});

test('what was missed is due at once, and nothing above the total ever is', () => {
  const pacer = new Pacer({ perSecond: 1000, total: 50, lanes: 1 });
  pacer.take(0);
  expect(pacer.lateMs(20.5)).toBe(19.5);
  expect(pacer.take(20.5)).toEqual([20]);
  expect(pacer.lateMs(20.5)).toBe(0);
  expect(pacer.done).toBe(false);
  expect(pacer.take(1e6)).toEqual([29]);
  expect(pacer.done).toBe(true);
  expect(pacer.take(2e6)).toEqual([0]);
  expect(pacer.lateMs(2e6)).toBe(0);
});

test('time that goes back takes nothing back', () => {
  const pacer = new Pacer({ perSecond: 1000, total: 50, lanes: 2 });
  pacer.take(9);
  expect(pacer.take(5)).toEqual([0, 0]);
  expect(pacer.sent).toBe(10);
});

test('lanes are dealt to in turn, whatever the steps of time', () => {
  for (const stepMs of [0.3, 1, 2.7, 11]) {
    const pacer = new Pacer({ perSecond: 1000, total: 97, lanes: 8 });
    const lanes = Array.from({ length: 8 }, () => 0);
    for (let ms = 0; !pacer.done; ms += stepMs) {
      const before = pacer.sent;
      const counts = pacer.take(ms);
      expect(sum(counts)).toBe(pacer.sent - before);
      counts.forEach((count, lane) => {
        lanes[lane] = (lanes[lane] ?? 0) + count;
      });
      expect(Math.max(...lanes) - Math.min(...lanes)).toBeLessThanOrEqual(1);
    }
    // 97 = 12 × 8 + 1, and the first lane is dealt to first.
    expect(lanes).toEqual([13, 12, 12, 12, 12, 12, 12, 12]);
  }
});

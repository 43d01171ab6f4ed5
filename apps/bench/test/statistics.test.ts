import { expect, test } from 'vitest';
import { median, quantile, significant } from '../src/statistics.js';

test('the median is the middle value, or the mean of the two in the middle', () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([9, 1, 5, 7])).toBe(6);
  expect(median([4])).toBe(4);
  expect(() => median([])).toThrow('no values');
});

test('quantiles interpolate, and leave the values as they were', () => {
  const values = [40, 10, 30, 20, 50];
  expect(quantile(values, 0)).toBe(10);
  expect(quantile(values, 0.25)).toBe(20);
  expect(quantile(values, 0.9)).toBe(46);
  expect(quantile(values, 1)).toBe(50);
  expect(values).toEqual([40, 10, 30, 20, 50]);
});

test('four digits are kept, wherever the point is', () => {
  expect(significant(123_456)).toBe(123_500);
  expect(significant(0.123456)).toBe(0.1235);
  expect(significant(2)).toBe(2);
});

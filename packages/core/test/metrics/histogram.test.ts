import { expect, it } from 'vitest';
import { Histogram } from '../../src/metrics/histogram.js';

it('a histogram counts a value in the bucket whose bound it does not exceed, the last has none', () => {
  const histogram = new Histogram([1, 5]);
  for (const value of [0, 1, 1.5, 5, 5.5, 100]) histogram.add(value);
  expect(histogram.read()).toEqual({ bounds: [1, 5], counts: [2, 2, 2], count: 6, sum: 113 });
});

it('a histogram counts a value that was found several times', () => {
  const histogram = new Histogram([1]);
  histogram.add(3, 4);
  expect(histogram.read()).toEqual({ bounds: [1], counts: [0, 4], count: 4, sum: 12 });
});

it('what was read of a histogram stays as it was', () => {
  const histogram = new Histogram([1]);
  const before = histogram.read();
  histogram.add(1);
  expect(before).toEqual({ bounds: [1], counts: [0, 0], count: 0, sum: 0 });
});

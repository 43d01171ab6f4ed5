import { expect, test } from 'vitest';
import { permits, share, span } from '../../src/status/figures.js';

test.each([
  [0, '0 ms'],
  [0.25, '0.25 ms'],
  [320, '320 ms'],
  [3101, '3.2 s'],
  [60_000, '1 min'],
  [124_001, '2 min 5 s'],
  [3_599_999, '60 min'],
  [12_000_000, '3 h 20 min'],
  [90_000_000, '1 d 1 h'],
])('%d ms are %s', (ms, text) => {
  expect(span(ms)).toBe(text);
});

test('permits and shares', () => {
  expect([permits(1), permits(1204)]).toEqual(['1 permit', '1,204 permits']);
  expect([share(1, 1000), share(999, 1000), share(5, 5)]).toEqual(['<1 %', '99 %', '100 %']);
});

import { expect, test } from 'vitest';
import { boundOf, WINDOW_MS } from '../src/quota.js';

test.each([
  // admitted, limit, elapsedMs, returned, overshoot, why
  [100, 100, 12_000, 0, 0, 'the limit, and nothing has returned'],
  [101, 100, 12_000, 0, 1, 'one above'],
  [99, 100, 12_000, 0, 0, 'below the limit is no negative overshoot'],
  [0, 1, 0, 0, 0, 'no request at all'],
  [101, 100, 35_999, 0, 1, 'one ms before the first permit returns'],
  [101, 100, 36_000, 1, 0, 'the first permit has returned'],
  [2_003, 1_000, WINDOW_MS, 1_000, 3, 'a whole window brings the limit once more'],
])('%i admitted of %i in %i ms: %i returned, overshoot %i (%s)', (...row) => {
  const [admitted, limit, elapsedMs, returned, overshoot] = row;
  expect(boundOf(admitted, limit, elapsedMs)).toEqual({ returned, overshoot });
});

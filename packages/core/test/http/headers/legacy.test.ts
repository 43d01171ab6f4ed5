import { afterEach, expect, it, vi } from 'vitest';
import { LEGACY_DELTA, LEGACY_EPOCH, X_RATE_LIMIT } from '../../../src/http/headers/legacy.js';
import { byName, told } from './told.js';

afterEach(() => void vi.restoreAllMocks());

it.each([
  ['X-RateLimit', 'seconds', LEGACY_DELTA, '13'],
  ['X-RateLimit', 'the instant', LEGACY_EPOCH, '1700000013'],
  ['X-Rate-Limit', 'the instant', X_RATE_LIMIT, '1700000013'],
])('%s with %s: of the first policy alone', (prefix, _, format, reset) => {
  vi.spyOn(Date, 'now').mockReturnValue(1_700_000_000_999);
  const names = ['Limit', 'Remaining', 'Reset'].map((name) => `${prefix}-${name}`);
  const all = [told({ resetAfterMs: 12_001 }), told({ limit: 100 })];
  expect(format).toMatchObject({ isList: false, names });
  expect(format.write(all)).toEqual([
    [names[0], '5'],
    [names[1], '4'],
    [names[2], reset],
  ]);
});

it('H-01 an instant is of ten digits', () => {
  expect(byName(LEGACY_EPOCH.write([told()]))['X-RateLimit-Reset']).toMatch(/^\d{10}$/);
});

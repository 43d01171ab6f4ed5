import { afterEach, describe, expect, it, vi } from 'vitest';
import { resetAtS, resetS } from '../../../src/http/headers/reset.js';
import { told, toldDenied } from './told.js';

afterEach(() => void vi.restoreAllMocks());

const CASES = [
  ['a full bucket', told({ resetAfterMs: 0 }), 0, 0],
  ['a millisecond', told({ resetAfterMs: 1 }), 1, 1],
  ['a second', told({ resetAfterMs: 1000 }), 1, 1000],
  ['more than a second', told({ resetAfterMs: 1001 }), 2, 1001],
  ['H-04 a denial with a full bucket', toldDenied(undefined, { resetAfterMs: 0 }), 1, 1],
  ['a denial that waits longer than that', toldDenied(5000, { resetAfterMs: 100 }), 5, 5000],
  ['a denial that waits shorter', toldDenied(100, { resetAfterMs: 5000 }), 5, 5000],
] as const;

describe.each(CASES)('%s', (_, { decision }, seconds, ms) => {
  it('in seconds', () => {
    expect(resetS(decision)).toBe(seconds);
  });

  it('as an instant, rounded up', () => {
    for (const now of [1_700_000_000_000, 1_700_000_000_001, 1_700_000_000_999]) {
      vi.spyOn(Date, 'now').mockReturnValue(now);
      expect(resetAtS(decision)).toBe(Math.ceil((now + ms) / 1000));
    }
  });
});

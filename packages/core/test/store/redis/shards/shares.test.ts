import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ALGORITHMS } from '../../../../src/policy/policy.js';
import {
  partsOf,
  type ShardedPolicy,
  shareOf,
  splitBy,
} from '../../../../src/store/redis/shards/shares.js';
import { markTaken, readTaken } from '../../../../src/store/redis/shards/taken-from.js';
import { fuzzRuns } from '../../../support/fuzz.js';
import { sharded } from '../../../support/sharded.js';

const amounts = fc.oneof(fc.nat(10_000), fc.maxSafeNat());
const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + BigInt(b), 0n);

describe('shares', () => {
  it('add up to the whole, exactly, and differ by 1 at most', () =>
    fc.assert(
      fc.property(amounts, fc.integer({ min: 1, max: 64 }), (whole, count) => {
        const shares = Array.from({ length: count }, (_, i) => shareOf(whole, i, count));
        expect(sum(shares)).toBe(BigInt(whole));
        expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
        // floor(whole × (i + 1) ÷ count) − floor(whole × i ÷ count), without rounding
        const [w, n] = [BigInt(whole), BigInt(count)];
        const exact = shares.map((_, i) => (w * BigInt(i + 1)) / n - (w * BigInt(i)) / n);
        expect(shares.map(BigInt)).toEqual(exact);
      }),
      fuzzRuns(),
    ));

  it('of any weights are none above its weight, and add up to what there is room for', () =>
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.nat(100), fc.nat(2 ** 46)), { minLength: 1, maxLength: 64 }),
        amounts,
        (weights, permits) => {
          const parts = splitBy(permits, weights);
          const room = sum(weights);
          expect(sum(parts)).toBe(BigInt(permits) < room ? BigInt(permits) : room);
          parts.forEach((part, i) => {
            expect(part).toBeGreaterThanOrEqual(0);
            expect(part).toBeLessThanOrEqual(weights[i] as number);
          });
        },
      ),
      fuzzRuns(),
    ));

  it.each(ALGORITHMS)('of a %s are of all that a policy counts in permits', (algorithm) => {
    const lease = algorithm === 'gcra' || algorithm === 'sliding-log' ? undefined : true;
    const policy = sharded(algorithm, {
      limit: 1003,
      overdraft: 77,
      lease,
      shards: 7,
      shadow: true,
    });
    const parts = partsOf(policy as ShardedPolicy);
    const total = (of: (part: (typeof parts)[number]) => number) => sum(parts.map(of));
    expect(parts).toHaveLength(7);
    expect(total(({ limit }) => limit)).toBe(1003n);
    expect(total(({ burst }) => burst)).toBe(1003n);
    expect(total(({ overdraft }) => overdraft)).toBe(77n);
    if (lease)
      expect(total((part) => part.lease?.share ?? 0)).toBe(BigInt(policy.lease?.share ?? 0));
    expect(parts.map(({ name }) => name)).toEqual([0, 1, 2, 3, 4, 5, 6].map((i) => `p/${i}.7`));
    expect(parts.every(({ shadow, shards }) => !shadow && shards === undefined)).toBe(true);
    expect(partsOf(policy as ShardedPolicy)).toBe(parts);
  });
});

describe('the time of a decision', () => {
  it.each([0, 1, 31, 63])('carries sub-bucket %i, exactly', (index) => {
    for (const atMs of [0, 1, 1_764_000_000_123, 2 ** 44]) {
      expect(readTaken(markTaken(atMs, index), 64)).toEqual({ atMs, index });
      expect(Math.floor(markTaken(atMs, index))).toBe(atMs);
    }
  });

  it('says nothing where it is whole, not there, or of more sub-buckets than there are', () => {
    expect(readTaken(5, 8)).toEqual({ atMs: 5, index: undefined });
    expect(readTaken(undefined, 8)).toEqual({ atMs: undefined, index: undefined });
    expect(readTaken(markTaken(5, 8), 8)).toEqual({ atMs: 5, index: undefined });
    expect(readTaken(markTaken(5, 7), 8)).toEqual({ atMs: 5, index: 7 });
  });
});

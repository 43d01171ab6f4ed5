import { expect, it } from 'vitest';
import type { ShardedPolicy } from '../../../../src/store/redis/shards/shares.js';
import { Spread } from '../../../../src/store/redis/shards/spread.js';
import { sharded } from '../../../support/sharded.js';

/** The sub-buckets that calls go to, one each 25 ms. */
function walk(shards: number, lease: boolean): number[] {
  const policy = sharded('token-bucket', { limit: 1000, shards, lease }) as ShardedPolicy;
  const spread = new Spread(policy, 0);
  return Array.from({ length: shards }, (_, i) => spread.firstFor(1, 25 * i) as number);
}

it('a replica goes through all sub-buckets, whatever their number', () => {
  for (let shards = 2; shards <= 64; shards++) {
    expect(new Set(walk(shards, false)).size).toBe(shards);
  }
});

it('the next of eight is on another of three primaries', () => {
  // Neighbours around the circle of slots, which primaries have thirds of.
  const homes = walk(8, false);
  homes.slice(1).forEach((home, i) => {
    const apart = Math.abs(home - (homes[i] as number));
    expect(Math.min(apart, 8 - apart)).toBe(3);
  });
});

it('one that leases stays where it is', () => {
  expect(new Set(walk(8, true)).size).toBe(1);
});

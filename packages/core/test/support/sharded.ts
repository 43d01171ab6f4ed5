import { randomPrefix, sharedRedis } from '@rl/testkit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll } from 'vitest';
import type { Algorithm, Policy, PolicyOptions } from '../../src/policy/policy.js';
import { parsePolicy } from '../../src/policy/policy.js';
import type { RedisStore } from '../../src/store/redis/redis-store.js';
import { frozenRedisStore } from '../../src/testing/frozen-redis-store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';

/** Several replicas of one app on one Redis and one clock, which stands still until it is moved. */
export interface Fleet {
  readonly clock: ManualClock;
  readonly stores: readonly RedisStore[];
  readonly store: RedisStore;
  readonly prefix: string;
  readonly client: Redis;
}

/** For the tests of a file: a client, and fleets with buckets of their own. */
export function useFleets(): (replicas?: number) => Fleet {
  let client: Redis;
  beforeAll(async () => {
    client = new Redis((await sharedRedis()).connection);
  });
  afterAll(() => client.quit());
  return (replicas = 1) => {
    const clock = new ManualClock();
    const prefix = randomPrefix();
    const stores = Array.from({ length: replicas }, () =>
      frozenRedisStore(client, clock, { prefix }),
    );
    return { clock, stores, store: stores[0] as RedisStore, prefix, client };
  };
}

export function sharded(algorithm: Algorithm, options: Partial<PolicyOptions> = {}): Policy {
  const values = { algorithm, limit: 100, window: '10s', shards: 8, ...options };
  return parsePolicy('p', values, '');
}

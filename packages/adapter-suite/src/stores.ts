import { memoryStore, type Store } from '@rl/core';
import { redisStore } from '@rl/core/redis';
import { frozenRedisStore, ManualClock } from '@rl/core/testing';
import { randomPrefix, sharedRedis } from '@rl/testkit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll } from 'vitest';

/** The stores every adapter is tested on. */
export type StoreKind = 'memory' | 'redis';
export const STORE_KINDS: readonly StoreKind[] = ['memory', 'redis'];

export interface FrozenStore {
  readonly store: Store;
  readonly clock: ManualClock;
  countBuckets(): Promise<number>;
}

/** Makes empty stores of one kind, for the tests of the enclosing `describe`. */
export interface StoreMaker {
  /** On a clock that stands still until it is moved. */
  frozen(): FrozenStore;
  /** As apps have it. */
  real(): Store;
}

/** Call it in a `describe`: it connects before its tests and disconnects after them. */
export function useStores(kind: StoreKind): StoreMaker {
  if (kind === 'memory') {
    return {
      frozen() {
        const clock = new ManualClock();
        const store = memoryStore({ clock });
        return { store, clock, countBuckets: async () => store.size };
      },
      real: () => memoryStore(),
    };
  }
  let client: Redis;
  beforeAll(async () => {
    client = new Redis((await sharedRedis()).connection);
  });
  afterAll(async () => {
    await client.quit();
  });
  return {
    frozen() {
      const clock = new ManualClock();
      const prefix = randomPrefix();
      const store = frozenRedisStore(client, clock, { prefix });
      const countBuckets = async (): Promise<number> => {
        // Beside each bucket stands the frozen instant at which it expires.
        const keys = await client.keys(`${prefix}:*`);
        return keys.filter((key) => !key.endsWith(':frozen')).length;
      };
      return { store, clock, countBuckets };
    },
    real: () => redisStore(client, { prefix: randomPrefix() }),
  };
}

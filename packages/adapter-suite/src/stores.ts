import { memoryStore, type Store } from '@rl/core';
import { redisStore } from '@rl/core/redis';
import { frozenRedisStore, ManualClock } from '@rl/core/testing';
import { randomPrefix, sharedRedis } from '@rl/testkit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll } from 'vitest';

/** The stores every adapter is tested on. */
export type StoreKind = 'memory' | 'redis';
export const STORE_KINDS: readonly StoreKind[] = ['memory', 'redis'];

/** Makes empty stores of one kind, for the tests of the enclosing `describe`. */
export interface StoreMaker {
  /** On a clock that stands still until it is moved. */
  frozen(): { store: Store; clock: ManualClock };
  /** As apps have it. */
  real(): Store;
}

/** Call it in a `describe`: it connects before its tests and disconnects after them. */
export function useStores(kind: StoreKind): StoreMaker {
  if (kind === 'memory') {
    return {
      frozen() {
        const clock = new ManualClock();
        return { store: memoryStore({ clock }), clock };
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
      return { store: frozenRedisStore(client, clock, { prefix: randomPrefix() }), clock };
    },
    real: () => redisStore(client, { prefix: randomPrefix() }),
  };
}

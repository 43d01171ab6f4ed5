import { randomPrefix, sharedRedis } from '@rl/testkit';
import { Redis } from 'ioredis';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import type { Store } from '../../src/store/store.js';
import { frozenRedisStore } from '../../src/testing/frozen-redis-store.js';
import type { Clock } from '../../src/time/clock.js';

/** A kind of store that tests run against, on a clock they move by hand. */
export interface World {
  readonly name: 'memory' | 'Redis';
  open(clock: Clock): Promise<OpenStore>;
}

export interface OpenStore {
  readonly store: Store;
  close(): Promise<void>;
}

export const MEMORY: World = {
  name: 'memory',
  async open(clock) {
    const store = memoryStore({ clock });
    return { store, close: () => store.close() };
  },
};

export const REDIS: World = {
  name: 'Redis',
  async open(clock) {
    const { connection } = await sharedRedis();
    const client = new Redis(connection);
    const store = frozenRedisStore(client, clock, { prefix: randomPrefix() });
    return {
      store,
      close: async () => {
        await store.close();
        await client.quit();
      },
    };
  },
};

export const WORLDS: readonly World[] = [MEMORY, REDIS];

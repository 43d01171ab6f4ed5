import type { StoreKind } from '@rl/adapter-suite';
import { memoryStore, type Store } from '@rl/core';
import { frozenRedisStore } from '@rl/core/testing';
import { randomPrefix, sharedRedis } from '@rl/testkit';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest';

/** What tests see of a time that they move, which is that of their stores, ours and others'. */
export interface FrozenTime {
  /** An empty store on that time. */
  store(): Store;
  /** Two replicas' stores, with the same buckets. */
  replicas(): readonly [Store, Store];
  advance(ms: number): void;
}

/** Call it in a `describe`. `Date` stands still in its tests; timers run as ever. */
export function useFrozenTime(kind: StoreKind): FrozenTime {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2030, 0, 1, 12, 0, 0, 500) });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const clock = { nowMs: () => Date.now() };
  const advance = (ms: number) => void vi.setSystemTime(Date.now() + ms);
  if (kind === 'memory') {
    const store = () => memoryStore({ clock });
    return {
      store,
      replicas: () => {
        const one = store();
        return [one, one];
      },
      advance,
    };
  }
  let client: Redis;
  beforeAll(async () => {
    client = new Redis((await sharedRedis()).connection);
  });
  afterAll(async () => {
    await client.quit();
  });
  const store = (prefix = randomPrefix()) => frozenRedisStore(client, clock, { prefix });
  return {
    store: () => store(),
    replicas: () => {
      const prefix = randomPrefix();
      return [store(prefix), store(prefix)];
    },
    advance,
  };
}

import type { Store } from '@rl/core';
import { redisStore } from '@rl/core/redis';
import { type FaultProxy, randomPrefix, sharedRedis, startFaultProxy } from '@rl/testkit';
import { Redis } from 'ioredis';
import { afterEach, beforeEach } from 'vitest';

/** How a Redis can be out of reach: nobody listens, it never answers, or not for 10 s. */
export type OutOfReach = 'refuses' | 'is silent' | 'is slow';

export interface LostRedis {
  /** A store on a client of its own, as apps have them. */
  open(): Store;
  lose(how: OutOfReach): Promise<void>;
  bringBack(): Promise<void>;
}

/** Call it in a `describe`: each of its tests has a Redis that can be lost, which nobody else sees lost. */
export function useLostRedis(): LostRedis {
  const clients: Redis[] = [];
  let proxy: FaultProxy;
  beforeEach(async () => {
    proxy = await startFaultProxy(await sharedRedis());
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.disconnect();
    await proxy.close();
  });
  return {
    open() {
      const client = new Redis({ ...proxy.connection, retryStrategy: () => 20 });
      client.on('error', () => undefined);
      clients.push(client);
      return redisStore(client, { prefix: randomPrefix() });
    },
    async lose(how) {
      if (how === 'refuses') await proxy.refuse();
      else if (how === 'is silent') proxy.blackhole();
      else proxy.delay({ toClientMs: 10_000 });
    },
    async bringBack() {
      await proxy.accept();
      proxy.heal();
    },
  };
}

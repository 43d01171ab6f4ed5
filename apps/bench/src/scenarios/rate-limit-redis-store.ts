import type { Cluster, Redis } from 'ioredis';
import { type RedisReply, RedisStore } from 'rate-limit-redis';

/** The store of express-rate-limit, wired as its documentation wires it to ioredis. */
export async function rateLimitRedisStore(
  client: Redis | Cluster,
  prefix: string,
  windowMs: number,
): Promise<RedisStore> {
  const store = new RedisStore({
    prefix,
    sendCommand: (command: string, ...args: string[]) =>
      client.call(command, ...args) as Promise<RedisReply>,
  });
  // Of the middleware's options it reads this one alone.
  await store.init({ windowMs } as Parameters<typeof store.init>[0]);
  return store;
}

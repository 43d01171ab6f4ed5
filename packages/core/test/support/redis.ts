import { type RedisServer, randomPrefix, sharedRedis, startRedis } from '@rl/testkit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type RedisStore, redisStore } from '../../src/store/redis/redis-store.js';

/** A client of the server all tests share, and a prefix that nobody else uses. */
export async function openShared(): Promise<{
  client: Redis;
  prefix: string;
  store: RedisStore;
  url: string;
  close(): Promise<void>;
}> {
  const { connection, url } = await sharedRedis();
  const client = new Redis(connection);
  const prefix = randomPrefix();
  const store = redisStore(client, { prefix });
  const close = async () => {
    await store.close();
    await client.quit();
  };
  return { client, prefix, store, url, close };
}

/** A server of one's own, to flush, count commands on and restart. */
export async function openOwn(): Promise<{
  client: Redis;
  server: RedisServer;
  store: RedisStore;
  close(): Promise<void>;
}> {
  const server = await startRedis();
  const client = new Redis(server.connection);
  const store = redisStore(client);
  const close = async () => {
    await store.close();
    client.disconnect();
    await server.close();
  };
  return { client, server, store, close };
}

/** For the tests of a file: a server of their own, empty and with its counts at 0 before each. */
export function useOwn(): Pick<Awaited<ReturnType<typeof openOwn>>, 'client' | 'server' | 'store'> {
  let own: Awaited<ReturnType<typeof openOwn>>;
  beforeAll(async () => {
    own = await openOwn();
  });
  afterAll(() => own.close());
  beforeEach(async () => {
    await own.client.flushall();
    await own.client.config('RESETSTAT');
  });
  return {
    get client() {
      return own.client;
    },
    get server() {
      return own.server;
    },
    get store() {
      return own.store;
    },
  };
}

/** How often the server ran each command since `CONFIG RESETSTAT`. */
export async function commandCalls(client: Redis): Promise<Record<string, number>> {
  const stats = await client.info('commandstats');
  const calls = [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)];
  return Object.fromEntries(calls.map(([, name, count]) => [name, Number(count)]));
}

/** All keys that begin with `prefix`. */
export async function keysOf(client: Redis, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of client.scanStream({ match: `${prefix}*`, count: 1000 })) {
    keys.push(...(page as string[]));
  }
  return [...new Set(keys)];
}

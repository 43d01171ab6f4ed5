import { createLimiter } from '@rl/core';
import { redisStore } from '@rl/core/redis';
import { type FoundRedis, sharedRedis } from '@rl/testkit';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { API_KEY, POLICY, WINDOW_MS } from '../src/quota.js';
import { type Machine, openStore, type RedisQuota } from '../src/store.js';

/** A machine on which nothing is found, nor may be started. */
const bare: Machine = {
  redisUrl: undefined,
  find: async () => {
    throw new Error('No Redis: set REDIS_URL');
  },
  start: async () => {
    throw new Error('started although nothing was found');
  },
};

/** A machine with a server to start. */
function withServer(found: FoundRedis): Machine & { closed: number } {
  const machine = {
    ...bare,
    closed: 0,
    find: async () => found,
    start: async () => ({
      url: 'redis://127.0.0.1:1',
      close: async () => {
        machine.closed++;
      },
    }),
  };
  return machine;
}

test('without a Redis, auto takes memory and keeps the reason', async () => {
  expect(await openStore('auto', bare)).toMatchObject({
    kind: 'memory',
    about: 'No Redis: set REDIS_URL',
  });
});

test('without a Redis, redis is an error', async () => {
  await expect(openStore('redis', bare)).rejects.toThrow('No Redis: set REDIS_URL');
});

test('memory asks the machine nothing', async () => {
  const machine: Machine = { ...bare, redisUrl: 'redis://127.0.0.1:1' };
  expect(await openStore('memory', machine)).toMatchObject({ kind: 'memory' });
});

test.each([
  [{ kind: 'binary', path: '/usr/bin/valkey-server' }, '/usr/bin/valkey-server'],
  [{ kind: 'container' }, 'a container'],
] as const)('a server is started from %j, and closed with the store', async (found, from) => {
  const machine = withServer(found);
  const store = await openStore('auto', machine);
  expect(store).toMatchObject({
    kind: 'redis',
    url: 'redis://127.0.0.1:1',
    about: `started for this run from ${from}`,
  });
  expect(machine.closed).toBe(0);
  await store.close();
  expect(machine.closed).toBe(1);
});

test('a server that does not start is a reason for auto and an error for redis', async () => {
  const machine: Machine = {
    ...withServer({ kind: 'container' }),
    start: async () => {
      throw new Error('no such image');
    },
  };
  expect(await openStore('auto', machine)).toMatchObject({
    kind: 'memory',
    about: 'no such image',
  });
  await expect(openStore('redis', machine)).rejects.toThrow('no such image');
});

test('a REDIS_URL that does not answer is an error, not a reason for memory', async () => {
  const machine: Machine = { ...bare, redisUrl: '/nowhere/redis.sock' };
  await expect(openStore('auto', machine)).rejects.toThrow(
    /^REDIS_URL does not answer: .*ENOENT.* Unset it, or use --store memory\.$/,
  );
});

test('a REDIS_URL is used under a prefix of its own, and left as it was', async () => {
  const { url, connection } = await sharedRedis();
  const machine: Machine = { ...bare, redisUrl: url };
  const store = (await openStore('auto', machine)) as RedisQuota;
  const other = (await openStore('redis', machine)) as RedisQuota;
  expect(store).toMatchObject({ kind: 'redis', url, about: 'the one at REDIS_URL' });
  expect(store.prefix).not.toBe(other.prefix);
  await other.close();

  const redis = new Redis(connection);
  const policies = { [POLICY]: { limit: 10, window: WINDOW_MS } };
  const limiter = createLimiter({
    policies,
    store: redisStore(redis, { prefix: store.prefix }),
    fallback: { deadline: '1m', replicas: 1 },
  });
  await limiter.consume({ [POLICY]: API_KEY });
  const key = `${store.prefix}:{${API_KEY}}:${POLICY}:tb1`;
  expect(await redis.exists(key)).toBe(1);
  await store.close();
  expect(await redis.exists(key)).toBe(0);
  redis.disconnect();
});

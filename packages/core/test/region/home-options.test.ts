import { type RedisServer, randomPrefix, startRedis } from '@rl/testkit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parsePolicy } from '../../src/policy/policy.js';
import { regionalStore } from '../../src/region/regional-store.js';
import { redisStore } from '../../src/store/redis/redis-store.js';

let server: RedisServer;
let region: Redis;
beforeAll(async () => {
  server = await startRedis();
  region = new Redis(server.connection);
});
afterAll(async () => {
  region.disconnect();
  await server.close();
});

it('a region that is cut off has its share of a sharded bucket, however small that is', async () => {
  const away = new Redis({ lazyConnect: true });
  away.disconnect();
  const prefix = randomPrefix();
  const store = regionalStore(region, {
    home: redisStore(away),
    share: 0.05,
    deadline: 1000,
    prefix,
  });
  const policy = parsePolicy('p', { limit: 100, window: '1h', shards: 8 }, '');
  const decisions = [];
  for (let i = 0; i < 6; i++) decisions.push(await store.consume(policy, 'k', 1));
  expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, true, true, false]);
  expect(decisions.map(({ remaining }) => remaining)).toEqual([4, 3, 2, 1, 0, 0]);
  await store.close();
});

it('the home store is waited for longer than it may take for its Redis replicas', () => {
  const home = redisStore(region, { durability: { replicas: 1, timeoutMs: 500 } });
  expect(regionalStore(region, { home, share: 0.5 }).waitMs).toBe(1300);
  expect(() => regionalStore(region, { home, share: 0.5, homeDeadline: '1s' })).toThrow(
    /homeDeadline.*above 1s, the waitMs of the home store.*1s/,
  );
});

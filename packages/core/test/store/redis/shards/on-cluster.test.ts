import { type RedisCluster, startCluster } from '@rl/testkit';
import { Cluster, Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLimiter } from '../../../../src/limiter/limiter.js';
import { redisStore } from '../../../../src/store/redis/redis-store.js';
import { slotOf } from '../../../../src/store/redis/slot.js';

let cluster: RedisCluster;
let primaries: Redis[];
const clients: Cluster[] = [];

beforeAll(async () => {
  cluster = await startCluster();
  primaries = cluster.nodes.map(({ server }) => new Redis(server.connection));
});
afterAll(async () => {
  for (const client of [...clients, ...primaries]) client.disconnect();
  await cluster.close();
});

/** A replica of an app, with a limiter on the cluster. */
function start(prefix: string) {
  const client = new Cluster([...cluster.startupNodes]);
  clients.push(client);
  const limiter = createLimiter({
    policies: {
      tenant: { limit: 1000, window: '1h', shards: 8 },
      route: { limit: 1000, window: '1h', shards: 8 },
      user: { limit: 500, window: '1h' },
      leased: { limit: 1000, window: '1h', shards: 8, lease: true },
    },
    store: redisStore(client, { prefix }),
    fallback: { replicas: 4, deadline: '1m' },
  });
  return limiter;
}

/** The keys of each primary. */
function keysOf(prefix: string): Promise<string[][]> {
  return Promise.all(primaries.map((primary) => primary.keys(`${prefix}:*`)));
}

const tagOf = (key: string) => /\{(.*)\}/.exec(key)?.[1] as string;

it('sub-buckets of a key are in slots of their own, at most three on each of three primaries', async () => {
  const limiter = start('spread');
  for (let i = 0; i < 20; i++) {
    const key = `tenant-${i}`;
    await limiter.consume({ tenant: key }, { cost: 900 });
    const keys = (await keysOf('spread')).map((own) =>
      own.filter((name) => name.includes(`{${key}%@`)),
    );
    expect(keys.map((own) => own.length).sort()).toEqual([2, 3, 3]);
    const slots = await Promise.all(keys.flat().map((name) => cluster.slotOf(name)));
    expect(new Set(slots).size).toBe(8);
    expect(keys.flat().map((name) => slotOf(tagOf(name)))).toEqual(slots);
  }
  await limiter.close();
});

it('two policies with one key and as many shards are in the same slots', async () => {
  const limiter = start('same');
  await limiter.consume({ tenant: 'k', route: 'k' }, { cost: 900 });
  const names = (await keysOf('same')).flat();
  const tags = (policy: string) =>
    names
      .filter((name) => name.includes(`:${policy}/`))
      .map(tagOf)
      .sort();
  expect(tags('tenant')).toHaveLength(8);
  expect(tags('tenant')).toEqual(tags('route'));
  await limiter.close();
});

it('four replicas admit the quota, each permit once, also beside a policy of one bucket', async () => {
  const fleet = [0, 1, 2, 3].map(() => start('quota'));
  const calls = fleet.flatMap((limiter, i) =>
    Array.from({ length: 300 }, () => limiter.consume({ tenant: 'hot', user: `u${i % 2}` })),
  );
  const decisions = await Promise.all(calls);
  // 300 calls of each of four, of which 500 of each two users may pass.
  expect(decisions.filter(({ allowed }) => allowed).length).toBeLessThanOrEqual(1000);
  const left = await fleet[0]?.peek({ tenant: 'hot' });
  expect(left?.remaining).toBe(1000 - decisions.filter(({ allowed }) => allowed).length);
  const more = await Promise.all(
    fleet.flatMap((limiter) =>
      Array.from({ length: 300 }, () => limiter.consume({ tenant: 'alone' })),
    ),
  );
  expect(more.filter(({ allowed }) => allowed)).toHaveLength(1000);
  await Promise.all(fleet.map((limiter) => limiter.close()));
});

it('leased and in shards: what four replicas admit and give back adds up', async () => {
  const fleet = [0, 1, 2, 3].map(() => start('leased'));
  let admitted = 0;
  for (let turn = 0; turn < 30; turn++) {
    const calls = fleet.flatMap((limiter) =>
      Array.from({ length: 4 }, () => limiter.consume({ leased: 'hot' })),
    );
    for (const { allowed } of await Promise.all(calls)) if (allowed) admitted++;
  }
  expect(admitted).toBe(480);
  await Promise.all(fleet.map((limiter) => limiter.close()));
  const again = start('leased');
  // In so short a time less than one permit of each sub-bucket comes back.
  const { remaining } = await again.peek({ leased: 'hot' });
  expect(remaining).toBeGreaterThanOrEqual(520);
  expect(remaining).toBeLessThanOrEqual(528);
  await again.close();
});

import { once } from 'node:events';
import { type RedisServer, startRedis } from '@rl/testkit';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { askUntil, type Replica, startReplica, take, untilStore } from '../support/replica.js';

const HOURLY = { p: { limit: 100, window: '1h', shards: 8 } };

let server: RedisServer;
let admin: Redis;
const open: Replica[] = [];

beforeAll(async () => {
  server = await startRedis();
  admin = new Redis(server.connection);
});
beforeEach(() => admin.flushall());
afterEach(async () => {
  await Promise.all(open.splice(0).map((replica) => replica.close()));
});
afterAll(async () => {
  admin.disconnect();
  await server.close();
});

async function start(count: number): Promise<Replica[]> {
  const fallback = { replicas: count, deadline: '200ms' };
  for (let i = 0; i < count; i++) {
    open.push(await startReplica(server, { policies: HOURLY, fallback, replicaId: `r${i}` }));
  }
  return open;
}

async function refuse(replica: Replica): Promise<void> {
  const closed = once(replica.client, 'close');
  await replica.cable.refuse();
  await closed;
}

it('where the store is lost, each replica has its share of the whole, and all of it is charged later', async () => {
  const fleet = await start(4);
  await Promise.all(fleet.map(({ limiter }) => untilStore(limiter, 'k')));
  await Promise.all(fleet.map(refuse));
  const during = await Promise.all(fleet.map(({ limiter }) => take(limiter, 20)));
  expect(during).toEqual([20, 20, 20, 20]);
  await Promise.all(fleet.map(({ cable }) => cable.accept()));
  const back = await Promise.all(
    fleet.map(({ limiter }) => askUntil(limiter, 'k', ({ origin }) => origin === 'store')),
  );
  const after = await Promise.all(fleet.map(({ limiter }) => take(limiter, 50)));
  expect([...during, ...back, ...after].reduce((sum, count) => sum + count, 0)).toBe(100);
  for (const { limiter } of fleet) expect(limiter.health()).toMatchObject({ store: 'up', owed: 0 });
});

it('what is already spent of the shards does not come twice', async () => {
  const [replica] = (await start(1)) as [Replica];
  await untilStore(replica.limiter, 'k');
  expect(await take(replica.limiter, 70)).toBe(70);
  await replica.limiter.peek({ p: 'k' });
  await refuse(replica);
  expect(await take(replica.limiter, 100)).toBe(30);
  await replica.cable.accept();
  await askUntil(replica.limiter, 'k', ({ origin }) => origin === 'store');
  expect((await replica.limiter.peek({ p: 'k' })).remaining).toBe(0);
});

it('settle, refund and reset go through the limiter, as of one bucket', async () => {
  const [{ limiter }] = (await start(1)) as [Replica];
  await untilStore(limiter, 'k');
  const keys = { p: 'k' };
  const decision = await limiter.consume(keys, { cost: 40 });
  expect(await limiter.settle(keys, { estimate: 40, cost: 10, decision })).toMatchObject({
    remaining: 90,
  });
  expect(await limiter.settle(keys, { estimate: 10, cost: 25 })).toMatchObject({ remaining: 75 });
  const more = await limiter.consume(keys, { cost: 5 });
  expect(await limiter.refund(keys, { cost: 5, decision: more })).toMatchObject({ remaining: 75 });
  await limiter.reset(keys);
  expect(await limiter.peek(keys)).toMatchObject({ remaining: 100, resetAfterMs: 0 });
});

it('a tier of its own may be in shards, or not', async () => {
  const [{ limiter }] = (await start(1)) as [Replica];
  await untilStore(limiter, 'k');
  const big = { policies: { p: { limit: 10_000, shards: 16 } } };
  expect(await limiter.consume({ p: 'big' }, { ...big, cost: 9000 })).toMatchObject({
    allowed: true,
    limit: 10_000,
    remaining: 1000,
  });
  const small = { policies: { p: { limit: 5, shards: 1 } } };
  expect(await limiter.consume({ p: 'small' }, small)).toMatchObject({ limit: 5, remaining: 4 });
  await expect(
    limiter.consume({ p: 'small' }, { policies: { p: { limit: 5 } } }),
  ).rejects.toMatchObject({ field: 'policies.p.shards' });
});

import { startCluster, startSentinel } from '@rl/testkit';
import { Cluster, Redis } from 'ioredis';
import { Cluster as Cluster5 } from 'ioredis5';
import { afterEach, expect, it, vi } from 'vitest';
import { createLimiter } from '../../../src/limiter/limiter.js';
import { parsePolicy } from '../../../src/policy/policy.js';
import { redisStore } from '../../../src/store/redis/redis-store.js';
import { commandCalls } from '../../support/redis.js';

const HOURLY = parsePolicy('hourly', { limit: 10, window: '1h' }, '');
const PATIENT = { replicas: 1, timeoutMs: 1000 };

vi.spyOn(process, 'emitWarning').mockImplementation(() => {});

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const each of undo.splice(0).reverse()) await each();
});

it('on a Cluster each primary is asked, and what dies with one is not told', async () => {
  const cluster = await startCluster({ primaries: 3, replicasEach: 1 });
  undo.push(() => cluster.close());
  const options = { maxRetriesPerRequest: 0 };
  const looks = cluster.nodes.map(({ server }) =>
    new Redis({ ...server.connection, ...options }).on('error', () => {}),
  );
  undo.push(() => looks.map((look) => look.disconnect()));
  const keys = Array.from({ length: 30 }, (_, i) => `k${i}`);
  for (const Client of [Cluster, Cluster5 as unknown as typeof Cluster]) {
    const client = new Client([...cluster.startupNodes], { redisOptions: options });
    client.on('error', () => {});
    undo.push(() => client.disconnect());
    const store = redisStore(client, { durability: PATIENT });
    await Promise.all(looks.slice(0, 3).map((look) => look.config('RESETSTAT')));
    await Promise.all(keys.map((key) => store.consume(HOURLY, key, 1)));
    expect(store.unreplicated).toBe(0);
    const calls = await Promise.all(looks.slice(0, 3).map(commandCalls));
    for (const { wait, psetex } of calls) {
      expect(wait).toBeGreaterThanOrEqual(1);
      expect(psetex).toBeGreaterThanOrEqual(1);
    }
  }
  const client = new Cluster([...cluster.startupNodes], { redisOptions: options });
  client.on('error', () => {});
  undo.push(() => client.disconnect());
  const store = redisStore(client, { durability: PATIENT });
  await Promise.all(keys.map((key) => store.consume(HOURLY, key, 1)));
  const owner = await cluster.primaryOf(await cluster.slotOf('rl:{k0}:hourly:tb1'));
  const [copy] = await cluster.replicasOf(owner);
  await copy?.server.pause();
  const asked = store.consume(HOURLY, 'k0', 1).catch((error: unknown) => error);
  const look = looks[cluster.nodes.indexOf(owner)] as Redis;
  await expect.poll(() => look.info('clients')).toContain('blocked_clients:1');
  await owner.server.kill();
  expect(await asked).toMatchObject({ code: 'RL_STORE_FAILED', fault: 'connection' });
  expect(store.unreplicated).toBe(0);
  await copy?.server.resume();
});

it('behind a Sentinel, what was spent at the primary that died is spent at its successor', async () => {
  const group = await startSentinel({ downAfterMs: 300 });
  undo.push(() => group.close());
  const client = new Redis({
    ...group.connection,
    maxRetriesPerRequest: 0,
    retryStrategy: () => 50,
    sentinelRetryStrategy: () => 50,
  });
  client.on('error', () => {});
  undo.push(() => client.disconnect());
  const store = redisStore(client, { durability: PATIENT });
  const limiter = createLimiter({
    store,
    policies: { hourly: { limit: 10, window: '1h', fallback: 'closed' } },
    fallback: { replicas: 1 },
  });
  undo.push(() => limiter.close());
  const spend = (times: number) =>
    Promise.all(Array.from({ length: times }, () => limiter.consume({ hourly: 'k' })));
  expect((await spend(6)).every(({ allowed }) => allowed)).toBe(true);
  expect(limiter.health().unreplicated).toBe(0);
  await group.killPrimary();
  await group.untilPromoted();
  const origin = async () => (await limiter.peek({ hourly: 'k' })).origin;
  await expect.poll(origin, { timeout: 10_000 }).toBe('store');
  const after = await spend(6);
  expect(after.filter(({ allowed }) => allowed)).toHaveLength(4);
  expect(after.every((decision) => decision.origin === 'store')).toBe(true);
}, 30_000);

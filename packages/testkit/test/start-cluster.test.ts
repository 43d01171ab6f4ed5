import { Cluster } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needProgram } from '../src/find-redis.js';
import { type RedisCluster, startCluster } from '../src/index.js';

/** Two keys of one slot. */
const KEYS = ['{tenant}:a', '{tenant}:b'] as const;
const SLOT = 14419;

describe('a cluster of three primaries and their Redis replicas', () => {
  let cluster: RedisCluster;
  let client: Cluster;

  beforeAll(async () => {
    cluster = await startCluster({ replicasEach: 1, nodeTimeoutMs: 1_000 });
    client = new Cluster([...cluster.startupNodes], { clusterRetryStrategy: () => 50 });
    client.on('error', () => {}); // the command fails with it
  });

  afterAll(async () => {
    client.disconnect();
    await cluster.close();
    await cluster.close();
    expect(cluster.nodes.map(({ server }) => server.pid)).toEqual(Array(7).fill(undefined));
  });

  async function primaryAndAnother() {
    const from = await cluster.primaryOf(SLOT);
    const slots = [0, 16383];
    const owners = await Promise.all(slots.map((slot) => cluster.primaryOf(slot)));
    const to = owners.find(({ id }) => id !== from.id);
    if (to === undefined) throw new Error('one primary has all slots');
    return { from, to };
  }

  test('has six nodes, each primary with a Redis replica', async () => {
    expect(cluster.nodes.map(({ startedAs }) => startedAs)).toEqual([
      ...['primary', 'primary', 'primary'],
      ...['replica', 'replica', 'replica'],
    ]);
    for (const slot of [0, 8000, 16383]) {
      const primary = await cluster.primaryOf(slot);
      expect(primary.startedAs).toBe('primary');
      expect(await cluster.replicasOf(primary)).toMatchObject([{ startedAs: 'replica' }]);
    }
  });

  test('answers a client for all slots', async () => {
    expect(await cluster.slotOf(KEYS[1])).toBe(SLOT);
    const keys = Array.from({ length: 50 }, (_, i) => `key-${i}`);
    await Promise.all(keys.map((key) => client.set(key, key)));
    expect(await Promise.all(keys.map((key) => client.get(key)))).toEqual(keys);
  });

  test('a slot that is half moved answers ASK and TRYAGAIN, and is moved then', async () => {
    const { from, to } = await primaryAndAnother();
    for (const key of KEYS) await client.set(key, key);
    const direct = new Cluster([...cluster.startupNodes], {
      maxRedirections: 0,
      redisOptions: { maxRetriesPerRequest: 0 },
    });
    await direct.get(KEYS[0]);
    const move = await cluster.beginMove(SLOT, to);
    expect(await move.migrateKeys([KEYS[0]])).toBe(1);
    expect((await cluster.primaryOf(SLOT)).id).toBe(from.id);
    await expect(direct.get(KEYS[0])).rejects.toThrow(/ASK 14419 127\.0\.0\.1:\d+/);
    await expect(direct.mget(...KEYS)).rejects.toThrow(/TRYAGAIN/);
    direct.disconnect();
    expect(await client.get(KEYS[0])).toBe(KEYS[0]);
    await move.finish();
    expect((await cluster.primaryOf(SLOT)).id).toBe(to.id);
    expect(await client.mget(...KEYS)).toEqual(KEYS);
  });

  test('moves a slot with its keys, back again, and to where it is', async () => {
    await Promise.all(Array.from({ length: 25 }, (_, i) => client.set(`{tenant}:${i}`, i)));
    for (const _ of ['there', 'back']) {
      const { to } = await primaryAndAnother();
      await cluster.moveSlot(SLOT, to);
      await cluster.moveSlot(SLOT, to);
      expect((await cluster.primaryOf(SLOT)).id).toBe(to.id);
      expect(await client.get('{tenant}:24')).toBe('24');
    }
  });

  test('takes one more primary, and gives it a slot', async () => {
    const added = await cluster.addPrimary();
    expect(cluster.nodes.at(-1)).toBe(added);
    await client.set(KEYS[0], 'kept');
    await cluster.moveSlot(SLOT, added);
    expect(await client.get(KEYS[0])).toBe('kept');
  });

  test('a killed primary is followed by its Redis replica, and comes back as that of it', async () => {
    const killed = await cluster.primaryOf(0);
    const [replica] = await cluster.replicasOf(killed);
    await cluster.killPrimary(killed);
    expect(cluster.startupNodes).toHaveLength(6);
    const promoted = await cluster.untilPromoted(killed);
    expect(promoted.id).toBe(replica?.id);
    expect((await cluster.primaryOf(0)).id).toBe(promoted.id);
    await killed.server.restart();
    await expect.poll(() => cluster.replicasOf(promoted), { timeout: 10_000 }).toEqual([killed]);
    await cluster.untilSettled();
  });

  test('refuses what is no slot, and to wait for one that was not killed', async () => {
    await expect(cluster.primaryOf(16384)).rejects.toThrow('slot must be a whole number from 0 to');
    const primary = await cluster.primaryOf(0);
    await expect(cluster.untilPromoted(primary)).rejects.toThrow('was not killed by killPrimary');
  });
});

test.each([
  [{ primaries: 0 }, 'primaries must be a whole number of at least 1, not 0'],
  [{ replicasEach: 0.5 }, 'replicasEach must be a whole number of at least 0, not 0.5'],
  [{ nodeTimeoutMs: 1 }, 'nodeTimeoutMs must be a whole number of at least 100, not 1'],
])('refuses %o', async (options, message) => {
  await expect(startCluster(options)).rejects.toThrow(message);
});

test('a node that does not start fails with what it printed', async () => {
  const failure = startCluster({ primaries: 1, args: ['--no-such-setting', '1'] });
  await expect(failure).rejects.toThrow(/no-such-setting/);
});

test('without a program on PATH it says what is needed, though a container engine answers', async () => {
  const probes = { which: async () => undefined, dockerAnswers: async () => true };
  await expect(needProgram('startCluster', {}, probes)).rejects.toThrow(
    /^startCluster starts .* redis-server or valkey-server on PATH:\n.*apt-get install/s,
  );
});

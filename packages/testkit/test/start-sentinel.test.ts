import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { type FaultProxy, startFaultProxy, startSentinel } from '../src/index.js';

const PATIENT = { retryStrategy: () => 50, sentinelRetryStrategy: () => 50 };

test('three Sentinels agree on the Redis replica that follows a killed primary', async () => {
  const group = await startSentinel({ replicas: 2, sentinels: 3, downAfterMs: 300 });
  const client = new Redis({ ...group.connection, ...PATIENT });
  client.on('error', () => {}); // the command fails with it
  try {
    expect(await group.primary()).toBe(group.servers[0]);
    await client.set('kept', '1');
    await client.call('WAIT', 2, 5_000);
    expect(await group.killPrimary()).toBe(group.servers[0]);
    const promoted = await group.untilPromoted();
    expect(group.servers.slice(1)).toContain(promoted);
    expect(await group.primary()).toBe(promoted);
    await expect.poll(() => client.get('kept').catch(String), { timeout: 10_000 }).toBe('1');
    await client.set('written', '1');
  } finally {
    client.disconnect();
    await group.close();
  }
  await group.close();
  expect([...group.servers, ...group.sentinels].map(({ pid }) => pid)).toEqual(
    Array(6).fill(undefined),
  );
});

test('replication goes by a detour that can be cut, and the replica takes over all the same', async () => {
  let proxy: FaultProxy | undefined;
  const group = await startSentinel({
    downAfterMs: 300,
    async replicationVia(primary) {
      proxy = await startFaultProxy(primary);
      return proxy.connection.port as number;
    },
  });
  const client = new Redis({ ...(await group.primary()).connection, retryStrategy: () => null });
  client.on('error', () => {}); // its server is killed
  try {
    await expect(group.untilPromoted()).rejects.toThrow('killPrimary was not called');
    await client.set('copied', '1');
    expect(await client.call('WAIT', 1, 5_000)).toBe(1);
    proxy?.blackhole();
    await client.set('lost', '1');
    await group.killPrimary();
    const promoted = new Redis((await group.untilPromoted()).connection);
    expect(await promoted.mget('copied', 'lost')).toEqual(['1', null]);
    promoted.disconnect();
  } finally {
    client.disconnect();
    await group.close();
    await proxy?.close();
  }
});

test('refuses no Redis replica', async () => {
  await expect(startSentinel({ replicas: 0 })).rejects.toThrow(
    'replicas must be a whole number of at least 1, not 0',
  );
});

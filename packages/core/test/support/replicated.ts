import { type FaultProxy, type RedisServer, startFaultProxy, startRedis } from '@rl/testkit';
import { Redis, type RedisOptions } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';

export interface Replicated {
  readonly primary: RedisServer;
  readonly replica: RedisServer;
  /** The way from the Redis replica to the primary. */
  readonly link: FaultProxy;
  /** Clients for looking. */
  readonly onPrimary: Redis;
  readonly onReplica: Redis;
  /** A client for a store, which is disconnected behind the test. */
  connect(options?: Omit<RedisOptions, 'replyMapping'>): Redis;
}

/** For the tests of a file: a primary and its Redis replica, empty and sound before each. */
export function useReplicated(): Replicated {
  const clients: Redis[] = [];
  let primary: RedisServer;
  let replica: RedisServer;
  let link: FaultProxy;
  let onPrimary: Redis;
  let onReplica: Redis;
  beforeAll(async () => {
    primary = await startRedis({ args: ['--repl-diskless-sync-delay', '0'] });
    link = await startFaultProxy(primary);
    const { port } = link.connection;
    replica = await startRedis({ args: ['--replicaof', `127.0.0.1 ${port}`] });
    onPrimary = new Redis(primary.connection);
    onReplica = new Redis(replica.connection);
  });
  beforeEach(async () => {
    await onPrimary.replicaof('NO', 'ONE');
    await replica.resume();
    link.delay({});
    await expect.poll(() => onReplica.info('replication')).toContain('master_link_status:up');
    await onPrimary.flushall();
    expect(await onPrimary.wait(1, 10_000)).toBe(1);
    await onPrimary.config('RESETSTAT');
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.disconnect();
  });
  afterAll(async () => {
    onPrimary.disconnect();
    onReplica.disconnect();
    await replica.close();
    await link.close();
    await primary.close();
  });
  const connect: Replicated['connect'] = (options = {}) => {
    const client = new Redis({ ...primary.connection, ...options }).on('error', () => {});
    clients.push(client);
    return client;
  };
  return {
    get primary() {
      return primary;
    },
    get replica() {
      return replica;
    },
    get link() {
      return link;
    },
    get onPrimary() {
      return onPrimary;
    },
    get onReplica() {
      return onReplica;
    },
    connect,
  };
}

import { type ClusterNode, type RedisCluster, randomPrefix, startCluster } from '@rl/testkit';
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { frozenRedisStore } from '../../src/testing/frozen-redis-store.js';
import type { World } from './worlds.js';

type Options = Omit<ClusterOptions, 'redisOptions'> & {
  redisOptions?: Pick<RedisOptions, 'username' | 'password' | 'enableReadyCheck'>;
};

/** Those that docs/stores.md has. */
export const CLUSTER_OPTIONS = {
  retryDelayOnFailover: 0,
  retryDelayOnClusterDown: 0,
  retryDelayOnTryAgain: 1,
  slotsRefreshInterval: 1000,
  clusterRetryStrategy: (attempt: number): number => Math.min(attempt * 50, 500),
  redisOptions: { maxRetriesPerRequest: 0, connectTimeout: 1000, socketTimeout: 2000 },
} as const;

export interface OpenCluster {
  readonly cluster: RedisCluster;
  /** With the options of docs/stores.md. */
  readonly client: Cluster;
  /** A further client. */
  connect(options?: Options): Cluster;
  /** A client of one node alone. */
  direct(node: ClusterNode): Redis;
  /** A kind of store for the tests that take one. */
  readonly world: Pick<World, 'open'>;
  /** Ends the clients and the cluster. */
  close(): Promise<void>;
}

/** A cluster of three primaries, and ways to it. Takes some 2 s: one for the tests of a file. */
export async function openCluster(
  options: Parameters<typeof startCluster>[0] = {},
): Promise<OpenCluster> {
  const cluster = await startCluster(options);
  const opened: (Cluster | Redis)[] = [];
  const connect = (changed: Options = {}): Cluster => {
    const client = new Cluster([...cluster.startupNodes], {
      ...CLUSTER_OPTIONS,
      ...changed,
      redisOptions: { ...CLUSTER_OPTIONS.redisOptions, ...changed.redisOptions },
    });
    client.on('error', () => {}); // the call fails with it
    opened.push(client);
    return client;
  };
  const direct = ({ server }: ClusterNode): Redis => {
    const client = new Redis({ ...server.connection, retryStrategy: () => null });
    client.on('error', () => {}); // the call fails with it
    opened.push(client);
    return client;
  };
  const client = connect();
  return {
    cluster,
    client,
    connect,
    direct,
    world: {
      async open(clock) {
        const store = frozenRedisStore(client, clock, { prefix: randomPrefix() });
        return { store, close: () => store.close() };
      },
    },
    async close() {
      for (const one of opened) one.disconnect();
      await cluster.close();
    },
  };
}

/** All keys of the cluster that begin with `prefix`. */
export async function clusterKeys(
  { cluster, direct }: OpenCluster,
  prefix: string,
): Promise<string[]> {
  const keys = await Promise.all(
    cluster.nodes.map(async (node) => {
      const client = direct(node);
      const found = await client.keys(`${prefix}*`);
      client.disconnect();
      return found;
    }),
  );
  return keys.flat();
}

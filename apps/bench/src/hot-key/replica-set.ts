import { createLimiter, type Decision, type Limiter, type PolicyOptions } from '@rl/core';
import { type RedisStore, redisStore } from '@rl/core/redis';
import { Cluster } from 'ioredis';

/** The one key that all calls are of. */
const KEY = 'tenant-1';

/** Policies of a key that is kept as one bucket, and as shards chosen at random. */
export interface HotKey {
  readonly name: string;
  consume(replica: number): Promise<Decision>;
  close(): Promise<void>;
}

/** A connected client of the cluster. */
export async function connect(nodes: readonly { host: string; port: number }[]): Promise<Cluster> {
  const client = new Cluster([...nodes], { lazyConnect: true });
  await client.connect();
  return client;
}

/** Replicas of an app, each with a client and a limiter of its own, which ask the store of each call. */
export async function openReplicas(
  name: string,
  policy: PolicyOptions,
  replicas: number,
  prefix: string,
  nodes: readonly { host: string; port: number }[],
): Promise<HotKey> {
  const clients = await Promise.all(Array.from({ length: replicas }, () => connect(nodes)));
  const stores: RedisStore[] = clients.map((client) => redisStore(client, { prefix }));
  const limiters: Limiter<'p'>[] = stores.map((store) =>
    createLimiter({
      policies: { p: policy },
      store,
      fallback: { deadline: '1m', replicas },
    }),
  );
  return {
    name,
    consume: (replica) => (limiters[replica] as Limiter<'p'>).consume({ p: KEY }),
    close: () => closeAll(limiters, stores, clients),
  };
}

/**
 * What an app can do by itself: as many policies as there are shards, each with its share and a key of
 * its own, and for each call one of them at random.
 */
export async function openRandomPick(
  name: string,
  { limit, window }: PolicyOptions,
  shards: number,
  replicas: number,
  prefix: string,
  nodes: readonly { host: string; port: number }[],
): Promise<HotKey> {
  const clients = await Promise.all(Array.from({ length: replicas }, () => connect(nodes)));
  const stores: RedisStore[] = clients.map((client) => redisStore(client, { prefix }));
  const limiters: Limiter<'p'>[] = stores.map((store) =>
    createLimiter({
      policies: { p: { limit: Math.floor(limit / shards), window } },
      store,
      fallback: { deadline: '1m', replicas },
    }),
  );
  return {
    name,
    consume: (replica) => {
      const shard = Math.floor(Math.random() * shards);
      return (limiters[replica] as Limiter<'p'>).consume({ p: `${KEY}/${shard}` });
    },
    close: () => closeAll(limiters, stores, clients),
  };
}

async function closeAll(
  limiters: readonly Limiter<'p'>[],
  stores: readonly RedisStore[],
  clients: readonly Cluster[],
): Promise<void> {
  await Promise.all(limiters.map((limiter) => limiter.close()));
  await Promise.all(stores.map((store) => store.close()));
  for (const client of clients) client.disconnect();
}

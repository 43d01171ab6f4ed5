import { type RedisCluster, randomPrefix } from '@rl/testkit';
import { Cluster } from 'ioredis';
import type { Decision } from '../../src/decision/decision.js';
import type { StoreEvent } from '../../src/fallback/events.js';
import type { FallbackOptions } from '../../src/fallback/options.js';
import { createLimiter, type Limiter } from '../../src/limiter/limiter.js';
import type { PolicyOptions } from '../../src/policy/policy.js';
import { type RedisStore, redisStore } from '../../src/store/redis/redis-store.js';

/** One replica of an app on a Redis Cluster, with a client of its own. */
export interface ClusterReplica {
  readonly limiter: Limiter;
  readonly store: RedisStore;
  readonly client: Cluster;
  readonly events: StoreEvent[];
  /** The node of a partition key at present, as `host:port`. */
  placeOf(key: string): string;
  close(): Promise<void>;
}

/** One of a fleet is told who it is, and the prefix that all of it has. */
export interface ClusterReplicaOptions {
  readonly policies: Record<string, PolicyOptions>;
  readonly fallback?: FallbackOptions;
  readonly prefix?: string;
  readonly replicaId?: string;
}

/** Its client is connected when this resolves. */
export async function startClusterReplica(
  cluster: RedisCluster,
  { policies, fallback, prefix = randomPrefix(), replicaId = 'r' }: ClusterReplicaOptions,
): Promise<ClusterReplica> {
  const client = new Cluster([...cluster.startupNodes], {
    lazyConnect: true,
    clusterRetryStrategy: (attempt) => Math.min(attempt * 50, 500),
    redisOptions: { connectTimeout: 1000 },
  });
  client.on('error', () => {});
  await client.connect();
  const store = redisStore(client, { prefix, replicaId });
  const events: StoreEvent[] = [];
  const onEvent = (event: StoreEvent) => void events.push(event);
  const limiter = createLimiter({ policies, store, fallback: { ...fallback, onEvent } });
  const placeOf = store.placeOf as (key: string) => string;
  const close = async () => {
    await limiter.close();
    await store.close();
    client.disconnect();
  };
  return { limiter, store, client, events, placeOf, close };
}

/** A partition key at each of the places that `placeOf` tells of, until there are `count`. */
export function keysByPlace(placeOf: (key: string) => string, count: number): Map<string, string> {
  const keys = new Map<string, string>();
  for (let i = 0; i < 1000 && keys.size < count; i++) {
    const place = placeOf(`k${i}`);
    if (!keys.has(place)) keys.set(place, `k${i}`);
  }
  if (keys.size < count) throw new Error(`${keys.size} places, not ${count}`);
  return keys;
}

/** Asks again and again until `isOver`. @returns all decisions */
export async function askUntil(
  limiter: Limiter,
  key: string,
  isOver: (decision: Decision) => boolean,
): Promise<Decision[]> {
  const decisions: Decision[] = [];
  for (;;) {
    const decision = await limiter.consume({ p: key });
    decisions.push(decision);
    if (isOver(decision)) return decisions;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

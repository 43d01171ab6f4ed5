import { createLimiter, type Limiter } from '@rl/core';
import { redisStore } from '@rl/core/redis';
import { Cluster } from 'ioredis';

export type PolicyName = 'quota' | 'pair';

export interface ReplicaOptions {
  readonly startupNodes: readonly { readonly host: string; readonly port: number }[];
  readonly replicaId: string;
  /** Of each key under `quota`; twice that under `pair`. */
  readonly limit: number;
  readonly deadlineMs: number;
}

/** A limiter on a client of its own, with the options of docs/stores.md, where only the store admits. */
export interface Replica {
  readonly limiter: Limiter<PolicyName>;
  close(): Promise<void>;
}

export function openReplica(options: ReplicaOptions): Replica {
  const { startupNodes, replicaId, limit, deadlineMs } = options;
  const client = new Cluster([...startupNodes], {
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: 1,
    clusterRetryStrategy: (attempt) => Math.min(attempt * 50, 500),
    redisOptions: { maxRetriesPerRequest: 0, connectTimeout: 1000, socketTimeout: 2000 },
  });
  client.on('error', () => {}); // the limiter tells of what matters
  const store = redisStore(client, { replicaId });
  // So long that nothing is refilled meanwhile.
  const window = '365d';
  const limiter = createLimiter({
    policies: { quota: { limit, window }, pair: { limit: 2 * limit, window } },
    store,
    fallback: { mode: 'closed', deadline: deadlineMs, onEvent: () => {} },
  });
  return {
    limiter,
    async close() {
      await limiter.close();
      await store.close();
      client.disconnect();
    },
  };
}

import { redisStore } from '@rl/core/redis';
import { Redis } from 'ioredis';
import type { AnyOptions, RunningApp } from './framework.js';
import { PATIENT } from './patient.js';

export { serve } from './node-server.js';

/** What one replica is told, as JSON in its first argument. */
export interface ReplicaOrder {
  readonly redisUrl: string;
  readonly prefix: string;
}

/** All replicas share this quota. Its first permit returns after 36 s. */
export const REPLICA_LIMIT = 100;

/**
 * The main program of a forked process: starts an app with one limiter over the shared Redis, tells
 * its parent the port and ends when the parent disconnects.
 */
export async function runReplica(
  start: (options: AnyOptions) => Promise<RunningApp>,
): Promise<void> {
  const { redisUrl, prefix } = JSON.parse(process.argv[2] ?? '') as ReplicaOrder;
  const client = new Redis(redisUrl);
  const store = redisStore(client, { prefix });
  const app = await start({
    store,
    limit: REPLICA_LIMIT,
    window: '1h',
    key: () => 'everybody',
    fallback: PATIENT,
  });
  process.once('disconnect', async () => {
    await app.close();
    await client.quit();
  });
  process.send?.(app.target);
}

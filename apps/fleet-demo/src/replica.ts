/**
 * The process of one replica. It is forked by the demo, which sends it a `ReplicaConfig`; it
 * answers with a `ReplicaReady`. It lives as long as the channel between them: however the demo
 * ends, the channel closes and the replica with it.
 */
import { redisStore } from '@rl/core/redis';
import { connectRedis } from './redis.js';
import { createService, listen } from './service.js';

/** What a replica has to know. */
export interface ReplicaConfig {
  readonly limit: number;
  /** How many of the service there will be. */
  readonly replicas: number;
  readonly redisUrl: string;
  /** How all keys of this run begin. */
  readonly prefix: string;
}

/** Sent when the replica answers requests. */
export interface ReplicaReady {
  readonly port: number;
}

process.on('disconnect', () => process.exit(0));
if (!process.connected) {
  console.error('replica.mjs is started by main.mjs, not by hand.');
  process.exit(2);
}
// Ctrl-C reaches the whole group: the demo hears it too, and lets go of us when it is done.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});

process.once('message', (config: ReplicaConfig) => {
  start(config).then(
    (ready) => process.send?.(ready),
    (error) => {
      console.error(`replica ${process.pid}: ${error instanceof Error ? error.message : error}`);
      process.exit(1);
    },
  );
});

async function start(config: ReplicaConfig): Promise<ReplicaReady> {
  const redis = await connectRedis(config.redisUrl);
  const store = redisStore(redis, { prefix: config.prefix });
  const { port } = await listen(createService(config.limit, store, config.replicas));
  return { port };
}

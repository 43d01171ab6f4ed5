import { fileURLToPath } from 'node:url';
import { type RedisServer, startRedis } from '@rl/testkit';
import { type Program, start } from './program.js';

/** One process of the example service. */
export interface Replica {
  /** Where clients ask. */
  readonly url: string;
  /** Where operators and Prometheus ask. */
  readonly operations: string;
}

/** Replicas of the example service on one Redis of their own. */
export interface Fleet {
  readonly redis: RedisServer;
  readonly replicas: readonly Replica[];
  close(): Promise<void>;
}

const SERVER = fileURLToPath(
  new URL('../../apps/express-example/dist/server.mjs', import.meta.url),
);

export async function startFleet(count: number): Promise<Fleet> {
  const redis = await startRedis();
  const env = { REDIS_URL: redis.url, PORT: '0', OPERATIONS_PORT: '0' };
  const programs = Array.from({ length: count }, () => start(process.execPath, [SERVER], env));
  return {
    redis,
    replicas: await Promise.all(programs.map(replicaOf)),
    async close() {
      await Promise.all(programs.map((program) => program.close()));
      await redis.close();
    },
  };
}

async function replicaOf(program: Program): Promise<Replica> {
  const port = await program.line(/^http:\/\/localhost:(\d+), quotas in Redis/);
  const operations = await program.line(/^(http:\S+)\/metrics, for Prometheus/);
  return { url: `http://127.0.0.1:${port}`, operations };
}

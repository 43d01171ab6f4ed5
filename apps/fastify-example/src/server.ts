import type { AddressInfo } from 'node:net';
import { memoryStore } from '@rl/core';
import { redisStore } from '@rl/core/redis';
import { createServiceLimiter, serveOperations } from '@rl/example-service';
import { Redis } from 'ioredis';
import { createApp } from './app.js';

const { REDIS_URL, REDIS_DEADLINE = '5ms', PORT = '0' } = process.env;
const { OPERATIONS_PORT, OPERATIONS_HOST = '127.0.0.1' } = process.env;

// It never gives up, and need not be there: requests are decided without it meanwhile.
const retryStrategy = (tries: number): number => Math.min(tries * 50, 500);
const redis = REDIS_URL ? new Redis(REDIS_URL, { retryStrategy }) : undefined;
redis?.on('error', (error) => console.error(`Redis: ${error.message || 'no connection'}`));
const store = redis ? redisStore(redis) : memoryStore();
const limiter = createServiceLimiter(store, { deadline: REDIS_DEADLINE });

const app = createApp(limiter);
await app.listen({ port: Number(PORT) });
const { port } = app.server.address() as AddressInfo;
console.log(`http://localhost:${port}, quotas in ${redis ? 'Redis' : 'memory'}`);

const operations = OPERATIONS_PORT
  ? await serveOperations(limiter, OPERATIONS_HOST, Number(OPERATIONS_PORT))
  : undefined;
if (operations) console.log(`${operations.url}/metrics, for Prometheus`);

/** Requests that are under way are still answered. */
async function end(): Promise<void> {
  await app.close();
  await operations?.close();
  await limiter.close();
  await store.close();
  redis?.disconnect();
}
process.once('SIGTERM', end);
process.once('SIGINT', end);

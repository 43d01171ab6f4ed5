import type { AddressInfo } from 'node:net';
import { memoryStore } from '@rl/core';
import { redisStore } from '@rl/core/redis';
import { Redis } from 'ioredis';
import { createApp } from './app.js';

const { REDIS_URL, PORT = '0' } = process.env;

// One retry: a request shall not wait long for a Redis that is away.
const redis = REDIS_URL ? new Redis(REDIS_URL, { maxRetriesPerRequest: 1 }) : undefined;
redis?.on('error', (error) => console.error(`Redis: ${error.message}`));
const store = redis ? redisStore(redis) : memoryStore();

const app = createApp(store);
await app.listen({ port: Number(PORT) });
const { port } = app.server.address() as AddressInfo;
console.log(`http://localhost:${port}, quotas in ${redis ? 'Redis' : 'memory'}`);

/** Requests that are under way are still answered. */
async function end(): Promise<void> {
  await app.close();
  await store.close();
  redis?.disconnect();
}
process.once('SIGTERM', end);
process.once('SIGINT', end);

import type { Redis } from 'ioredis';
import { PATIENT } from '../patient.js';
import type { AppLimits } from './app.js';
import type { QuotaOrder } from './order.js';

/** What limits an app, and how to close what was opened for it, in that order. */
export interface OpenLimits {
  readonly limits: AppLimits;
  readonly closers: readonly (() => Promise<unknown>)[];
}

/** The options that each one's documentation has for its client. They are for when Redis fails. */
const CLIENT_OPTIONS = {
  rl: {
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt: number) => Math.min(attempt * 50, 500),
    connectTimeout: 1000,
    socketTimeout: 2000,
  },
  // Of @fastify/rate-limit; the other two have none.
  usual: { connectTimeout: 500, maxRetriesPerRequest: 1 },
  rateLimiterFlexible: { enableOfflineQueue: false },
};

/** Opens what limits an app, on a client of its own where that is on Redis. It loads nothing else. */
export async function openLimits(quota: QuotaOrder): Promise<OpenLimits> {
  const { by, counts, limit, windowMs } = quota;
  if (counts !== 'memory') return openOnRedis(quota, await connect(quota));
  if (by === 'rl') return { limits: { by, options: { limit, window: windowMs } }, closers: [] };
  if (by === 'usual') {
    return { limits: { by, quota: { limit, windowMs, redis: undefined } }, closers: [] };
  }
  throw new RangeError(`${by} is measured on Redis only`);
}

async function connect({ by, redisUrl }: QuotaOrder): Promise<Redis> {
  const { Redis } = await import('ioredis');
  const client = new Redis(redisUrl, { ...CLIENT_OPTIONS[by], lazyConnect: true });
  await client.connect();
  return client;
}

async function openOnRedis(quota: QuotaOrder, client: Redis): Promise<OpenLimits> {
  const { by, limit, windowMs, prefix } = quota;
  const quit = () => client.quit();
  switch (by) {
    case 'rl':
      return openOurs(quota, client);
    case 'usual': {
      const usual = { limit, windowMs, redis: { client, prefix } };
      return { limits: { by, quota: usual }, closers: [quit] };
    }
    case 'rateLimiterFlexible': {
      const { RateLimiterRedis } = await import('rate-limiter-flexible');
      const duration = windowMs / 1000;
      const options = { storeClient: client, keyPrefix: prefix, points: limit, duration };
      return { limits: { by, limiter: new RateLimiterRedis(options) }, closers: [quit] };
    }
  }
}

async function openOurs(
  { counts, limit, windowMs: window, prefix }: QuotaOrder,
  client: Redis,
): Promise<OpenLimits> {
  const { redisStore } = await import('@rl/core/redis');
  const store = redisStore(client, { prefix });
  const closers = [() => store.close(), () => client.quit()];
  if (counts === 'redis') {
    const options = { limit, window, store, fallback: PATIENT };
    return { limits: { by: 'rl', options }, closers };
  }
  const { createLimiter } = await import('@rl/core');
  const policies = { api: { limit, window, lease: true } };
  const limiter = createLimiter({ policies, store, fallback: PATIENT });
  return {
    limits: { by: 'rl', options: { limiter } },
    closers: [() => limiter.close(), ...closers],
  };
}

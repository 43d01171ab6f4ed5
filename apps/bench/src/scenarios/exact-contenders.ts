import { createLimiter, type Decision } from '@rl/core';
import { redisStore } from '@rl/core/redis';
import { randomPrefix } from '@rl/testkit';
import type { Redis } from 'ioredis';
import { RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';
import type { Checked } from '../closed-loop.js';
import { PATIENT } from '../patient.js';
import { LIMIT, OURS, WINDOW_MS } from '../scenario.js';
import { rateLimitRedisStore } from './rate-limit-redis-store.js';

/** A rate limiter in Redis, on a client and a random key prefix of its own. */
export interface RedisLimiter<Answer = unknown> extends Checked<Answer> {
  readonly name: string;
  /** Permits that are charged to the key at present. */
  charged(key: string): Promise<number>;
  /** Removes what is stored for the key. */
  forget(key: string): Promise<unknown>;
}

/** Makes a contender ready to answer. */
export type MakeLimiter = (client: Redis) => Promise<RedisLimiter>;

const makeOurs = async (client: Redis): Promise<RedisLimiter<Decision>> => {
  const limiter = createLimiter({
    policies: { k: { limit: LIMIT, window: WINDOW_MS } },
    store: redisStore(client, { prefix: randomPrefix() }),
    fallback: PATIENT,
  });
  return {
    name: OURS,
    check: (key) => limiter.consume({ k: key }),
    admitted: (decision) => decision.allowed,
    charged: async (key) => LIMIT - (await limiter.peek({ k: key })).remaining,
    forget: (key) => limiter.reset({ k: key }),
  };
};

/** The store of express-rate-limit. */
const makeRateLimitRedis = async (
  client: Redis,
): Promise<RedisLimiter<{ readonly totalHits: number }>> => {
  const store = await rateLimitRedisStore(client, randomPrefix(), WINDOW_MS);
  return {
    name: 'rateLimitRedis',
    check: (key) => store.increment(key),
    admitted: ({ totalHits }) => totalHits <= LIMIT,
    // NaN where it has counted nothing yet.
    charged: async (key) => (await store.get(key))?.totalHits || 0,
    forget: (key) => store.resetKey(key),
  };
};

const makeRateLimiterFlexible = async (client: Redis): Promise<RedisLimiter<RateLimiterRes>> => {
  const limiter = new RateLimiterRedis({
    storeClient: client,
    keyPrefix: randomPrefix(),
    points: LIMIT,
    duration: WINDOW_MS / 1000,
  });
  return {
    name: 'rateLimiterFlexible',
    check: (key) => limiter.consume(key),
    // It rejects where it does not admit.
    admitted: () => true,
    charged: async (key) => (await limiter.get(key))?.consumedPoints ?? 0,
    forget: (key) => limiter.delete(key),
  };
};

export const MAKERS: readonly MakeLimiter[] = [
  makeOurs,
  makeRateLimitRedis,
  makeRateLimiterFlexible,
];

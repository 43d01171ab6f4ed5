/** What the peers' types say of ours. Compiled with the tests, and never run. */
import type { FastifyRateLimitStoreCtor, RateLimitPluginOptions } from '@fastify/rate-limit';
import type { ThrottlerModuleOptions, ThrottlerStorage } from '@nestjs/throttler';
import { createLimiter, memoryStore } from '@rl/core';
import type { Options, Store } from 'express-rate-limit';
import type { Options as SlowDownOptions } from 'express-slow-down';
import type { Store as HonoStore } from 'hono-rate-limiter';
import {
  toExpressRateLimitStore,
  toFastifyRateLimitStore,
  toNestThrottlerStorage,
} from '../src/index.js';

const limiter = createLimiter({ policies: { api: { limit: 1, window: '1m' } } });

export const forExpress: Store = toExpressRateLimitStore({ store: memoryStore(), name: 'api' });
export const byLimiter: Partial<Options> = {
  store: toExpressRateLimitStore({ limiter, policy: 'api' }),
};
export const forSlowDown: Partial<SlowDownOptions> = {
  store: toExpressRateLimitStore({ limit: 100, algorithm: 'token-bucket' }),
};
export const forHono: HonoStore = toExpressRateLimitStore();

export const forFastify: FastifyRateLimitStoreCtor = toFastifyRateLimitStore({ fallback: 'open' });
export const plugin: RateLimitPluginOptions = {
  store: toFastifyRateLimitStore({ limiter, policy: 'api' }),
};

export const forNest: ThrottlerStorage = toNestThrottlerStorage({ store: memoryStore() });
export const nest: ThrottlerModuleOptions = {
  throttlers: [],
  storage: toNestThrottlerStorage({ limiter, policy: 'api', blockPolicy: 'api' }),
};

// @ts-expect-error: one form or the other
toExpressRateLimitStore({ limiter, policy: 'api', name: 'api' });
// @ts-expect-error: a limiter needs the name of a policy
toFastifyRateLimitStore({ limiter });
// @ts-expect-error: the limit comes with each call
toNestThrottlerStorage({ limit: 5 });
// @ts-expect-error: the limit comes with each call
toFastifyRateLimitStore({ limit: 5 });
// @ts-expect-error: no such option
toExpressRateLimitStore({ max: 5 });

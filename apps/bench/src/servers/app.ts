import type { FallbackOptions, Limiter, Store } from '@rl/core';
import type { Redis } from 'ioredis';
import type { RateLimiterRedis } from 'rate-limiter-flexible';

/** Of one policy, `api`, by which each client has a quota. */
export type ApiLimiter = Limiter<'api'>;

/** What our adapter is given: a limiter made elsewhere, or one policy in place. */
export type OurOptions =
  | { readonly limiter: ApiLimiter }
  | {
      readonly limit: number;
      readonly window: number;
      readonly store?: Store;
      readonly fallback?: FallbackOptions;
    };

/** What the limiter most used with a framework is given. */
export interface UsualQuota {
  readonly limit: number;
  readonly windowMs: number;
  /** Where it counts; undefined for this process's memory. */
  readonly redis: { readonly client: Redis; readonly prefix: string } | undefined;
}

/** What limits an app, opened. */
export type AppLimits =
  | { readonly by: 'rl'; readonly options: OurOptions }
  | { readonly by: 'usual'; readonly quota: UsualQuota }
  | { readonly by: 'rateLimiterFlexible'; readonly limiter: RateLimiterRedis };

/** What every app answers with to `GET /`. */
export const DOCUMENT = { hello: 'world' };

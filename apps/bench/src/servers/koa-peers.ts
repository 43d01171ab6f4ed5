import type { Context, Middleware } from 'koa';
import ratelimit, { type MiddlewareOptions } from 'koa-ratelimit';
import type { RateLimiterRedis } from 'rate-limiter-flexible';
import { CLIENT_HEADER } from '../http-load/request.js';
import type { UsualQuota } from './app.js';
import { asRejection, headersOf } from './flexible.js';

const clientOf = (ctx: Context): string => ctx.get(CLIENT_HEADER);

/** koa-ratelimit with its driver for memory, or for Redis. */
export function usualMiddleware({ limit, windowMs, redis }: UsualQuota): Middleware {
  return ratelimit({
    max: limit,
    duration: windowMs,
    id: clientOf,
    // Its types are of an older ioredis than the one it works with.
    ...(redis === undefined
      ? { driver: 'memory', db: new Map() }
      : {
          driver: 'redis',
          db: redis.client as unknown as MiddlewareOptions['db'],
          namespace: redis.prefix,
        }),
  });
}

/** As the documentation of rate-limiter-flexible writes it, with the headers that it gives. */
export function flexibleMiddleware(limiter: RateLimiterRedis): Middleware {
  return async (ctx, next) => {
    try {
      ctx.set(headersOf(limiter, await limiter.consume(clientOf(ctx))));
    } catch (reason) {
      const denied = asRejection(reason);
      if (denied === undefined) throw reason;
      ctx.set(headersOf(limiter, denied));
      ctx.status = 429;
      ctx.body = 'Too Many Requests';
      return;
    }
    await next();
  };
}

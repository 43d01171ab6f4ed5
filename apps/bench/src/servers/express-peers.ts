import type { Request, RequestHandler } from 'express';
import { rateLimit } from 'express-rate-limit';
import type { RateLimiterRedis } from 'rate-limiter-flexible';
import { CLIENT_HEADER } from '../http-load/request.js';
import { rateLimitRedisStore } from '../scenarios/rate-limit-redis-store.js';
import type { UsualQuota } from './app.js';
import { asRejection, headersOf } from './flexible.js';

const clientOf = (req: Request): string => req.get(CLIENT_HEADER) as string;

/** express-rate-limit with its MemoryStore, or with rate-limit-redis. */
export async function usualMiddleware({
  limit,
  windowMs,
  redis,
}: UsualQuota): Promise<RequestHandler> {
  return rateLimit({
    limit,
    windowMs,
    keyGenerator: clientOf,
    // As its documentation sets it up; these are the fields that ours writes.
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    ...(redis && { store: await rateLimitRedisStore(redis.client, redis.prefix, windowMs) }),
  });
}

/** As the documentation of rate-limiter-flexible writes it, with the headers that it gives. */
export function flexibleMiddleware(limiter: RateLimiterRedis): RequestHandler {
  return (req, res, next) => {
    limiter
      .consume(clientOf(req))
      .then((found) => {
        res.set(headersOf(limiter, found));
        next();
      })
      .catch((reason: unknown) => {
        const denied = asRejection(reason);
        if (denied === undefined) return next(reason);
        res.set(headersOf(limiter, denied)).status(429).send('Too Many Requests');
      });
  };
}

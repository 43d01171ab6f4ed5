import { fastifyRateLimit } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RateLimiterRedis } from 'rate-limiter-flexible';
import { CLIENT_HEADER } from '../http-load/request.js';
import type { UsualQuota } from './app.js';
import { asRejection, headersOf } from './flexible.js';

const clientOf = ({ headers }: FastifyRequest): string => headers[CLIENT_HEADER] as string;

/** @fastify/rate-limit with its own store, or on Redis. */
export async function registerUsual(
  app: FastifyInstance,
  { limit, windowMs, redis }: UsualQuota,
): Promise<void> {
  await app.register(fastifyRateLimit, {
    max: limit,
    timeWindow: windowMs,
    keyGenerator: clientOf,
    ...(redis && { redis: redis.client, nameSpace: redis.prefix }),
  });
}

/** rate-limiter-flexible has no plugin for Fastify: its middleware for Koa, as a hook. */
export function addFlexibleHook(app: FastifyInstance, limiter: RateLimiterRedis): void {
  app.addHook('onRequest', async (request, reply) => {
    try {
      reply.headers(headersOf(limiter, await limiter.consume(clientOf(request))));
    } catch (reason) {
      const denied = asRejection(reason);
      if (denied === undefined) throw reason;
      return reply.code(429).headers(headersOf(limiter, denied)).send('Too Many Requests');
    }
  });
}

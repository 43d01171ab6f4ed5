import type { Limiter } from '@rl/core';
import { isLogin, pagesOf, type ServicePolicy } from '@rl/example-service';
import { rateLimit } from '@rl/fastify';
import { type FastifyInstance, fastify } from 'fastify';
import { createLimits, customerOf } from './limits.js';

/**
 * The service. A limit holds for the routes of the context that it is registered in, and of those
 * within.
 *
 * @param limiter of all its limits; whoever made it closes it
 */
export function createApp(limiter: Limiter<ServicePolicy>): FastifyInstance {
  const limits = createLimits(limiter);
  const app = fastify();
  app.register(rateLimit, limits.tier);
  app.get('/health', () => ({ status: 'ok' }));
  app.register(async (open) => {
    open.register(rateLimit, limits.login);
    open.post('/login', (request, reply) => {
      if (isLogin(request.headers.authorization)) reply.send({ welcome: 'back' });
      else reply.code(401).send({ error: 'wrong name or password' });
    });
  });
  app.register(async (customers) => {
    customers.addHook('onRequest', (request, reply, next) => {
      if (customerOf(request) !== undefined) next();
      else reply.code(401).send({ error: 'x-api-key is not a key of ours' });
    });
    customers.get('/', (request) => ({ hello: customerOf(request)?.name }));
    customers.register(async (searching) => {
      searching.register(rateLimit, limits.search);
      searching.get<{ Querystring: { pages?: string } }>('/search', ({ query }) => ({
        pages: pagesOf(query.pages),
      }));
    });
  });
  return app;
}

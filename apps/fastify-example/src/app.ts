import type { FallbackOptions, Store } from '@rl/core';
import { isLogin, pagesOf } from '@rl/example-service';
import { rateLimit } from '@rl/fastify';
import { type FastifyInstance, fastify } from 'fastify';
import { createLimits, customerOf } from './limits.js';

/**
 * The service. A limit holds for the routes of the context that it is registered in, and of those
 * within.
 *
 * @param store where it counts
 * @param fallback what it does while the store cannot answer
 */
export function createApp(store: Store, fallback: FallbackOptions): FastifyInstance {
  const limits = createLimits(store, fallback);
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

import type { FallbackOptions, Store } from '@rl/core';
import { rateLimit } from '@rl/fastify';
import { type FastifyInstance, type FastifyRequest, fastify } from 'fastify';

/** Who has which API key. A real service asks its database. */
const CUSTOMERS = new Map<unknown, string>([
  ['key-of-ann', 'ann'],
  ['key-of-bob', 'bob'],
]);

function customerOf(request: FastifyRequest): string | undefined {
  return CUSTOMERS.get(request.headers['x-api-key']);
}

/**
 * The service: five requests a minute for each customer, counted in `store`.
 *
 * @param fallback what it does while the store cannot answer
 */
export function createApp(store: Store, fallback: FallbackOptions): FastifyInstance {
  const app = fastify();
  app.register(rateLimit, {
    store,
    limit: 5,
    window: '1m',
    fallback,
    // Only a key that we gave out has a quota of its own: invented ones share their address's.
    key: customerOf,
  });
  app.get('/', (request, reply) => {
    const customer = customerOf(request);
    if (customer === undefined) reply.code(401).send({ error: 'x-api-key is not a key of ours' });
    else reply.send({ hello: customer });
  });
  return app;
}

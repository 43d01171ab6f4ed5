import type { FallbackOptions, Store } from '@rl/core';
import { rateLimit } from '@rl/express';
import express, { type Express, type Request } from 'express';

/** Who has which API key. A real service asks its database. */
const CUSTOMERS = new Map([
  ['key-of-ann', 'ann'],
  ['key-of-bob', 'bob'],
]);

function customerOf(req: Request): string | undefined {
  return CUSTOMERS.get(req.get('x-api-key') ?? '');
}

/**
 * The service: five requests a minute for each customer, counted in `store`.
 *
 * @param fallback what it does while the store cannot answer
 */
export function createApp(store: Store, fallback: FallbackOptions): Express {
  const app = express();
  app.use(
    rateLimit({
      store,
      limit: 5,
      window: '1m',
      fallback,
      // Only a key that we gave out has a quota of its own: invented ones share their address's.
      key: customerOf,
    }),
  );
  app.get('/', (req, res) => {
    const customer = customerOf(req);
    if (customer === undefined) res.status(401).json({ error: 'x-api-key is not a key of ours' });
    else res.json({ hello: customer });
  });
  return app;
}

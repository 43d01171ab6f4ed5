import type { FallbackOptions, Store } from '@rl/core';
import { rateLimit } from '@rl/koa';
import Koa, { type Context } from 'koa';

/** Who has which API key. A real service asks its database. */
const CUSTOMERS = new Map([
  ['key-of-ann', 'ann'],
  ['key-of-bob', 'bob'],
]);

function customerOf(ctx: Context): string | undefined {
  return CUSTOMERS.get(ctx.get('x-api-key'));
}

/**
 * The service: five requests a minute for each customer, counted in `store`.
 *
 * @param fallback what it does while the store cannot answer
 */
export function createApp(store: Store, fallback: FallbackOptions): Koa {
  const app = new Koa();
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
  app.use((ctx) => {
    if (ctx.path !== '/') return;
    const customer = customerOf(ctx);
    if (customer === undefined) {
      ctx.status = 401;
      ctx.body = { error: 'x-api-key is not a key of ours' };
    } else {
      ctx.body = { hello: customer };
    }
  });
  return app;
}

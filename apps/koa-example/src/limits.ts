import type { FallbackOptions, Store } from '@rl/core';
import type { Denial } from '@rl/core/http';
import {
  type Customer,
  deniedBody,
  findCustomer,
  pagesOf,
  STRANGER_LIMIT,
} from '@rl/example-service';
import { rateLimit } from '@rl/koa';
import type { Context, Middleware } from 'koa';

/** Paths that the tier does not count: `/login` has a limit of its own. */
const UNCOUNTED = new Set(['/health', '/login']);

export function customerOf(ctx: Context): Customer | undefined {
  return findCustomer(ctx.get('x-api-key'));
}

/**
 * The limits of the service, counted in `store`.
 *
 * @param fallback what they do while the store cannot answer
 */
export function createLimits(
  store: Store,
  fallback: FallbackOptions,
): Record<'tier' | 'search' | 'login', Middleware> {
  const common = {
    store,
    fallback,
    body: (denial: Denial, ctx: Context) => deniedBody(denial, ctx.get('accept')),
  };
  // Only a key that we gave out has a quota of its own: invented ones share their address's.
  const key = (ctx: Context): string | undefined => customerOf(ctx)?.name;
  return {
    /** By customer, as many as they pay for. */
    tier: rateLimit({
      ...common,
      name: 'tier',
      limit: (ctx) => customerOf(ctx)?.limit ?? STRANGER_LIMIT,
      window: '1m',
      key,
      skip: (ctx) => UNCOUNTED.has(ctx.path),
    }),
    /** By customer and by what a search fetches. */
    search: rateLimit({
      ...common,
      name: 'search',
      limit: 10,
      window: '1m',
      key,
      cost: (ctx) => pagesOf(ctx.query.pages),
    }),
    /** By address. Logins that succeed give back what they cost: only guesses count. */
    login: rateLimit({
      ...common,
      name: 'login',
      limit: 3,
      window: '15m',
      refundWhen: 'successful',
    }),
  };
}

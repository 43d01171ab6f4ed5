import type { Limiter } from '@rl/core';
import type { Denial } from '@rl/core/http';
import {
  type Customer,
  deniedBody,
  findCustomer,
  pagesOf,
  type ServicePolicy,
  tierOf,
} from '@rl/example-service';
import { rateLimit } from '@rl/koa';
import type { Context, Middleware } from 'koa';

/** Paths that the tier does not count: `/login` has a limit of its own. */
const UNCOUNTED = new Set(['/health', '/login']);

export function customerOf(ctx: Context): Customer | undefined {
  return findCustomer(ctx.get('x-api-key'));
}

/** The limits of the service, each by one policy of its limiter. */
export function createLimits(limiter: Limiter<ServicePolicy>): Record<ServicePolicy, Middleware> {
  const common = {
    limiter,
    policies: (ctx: Context) => tierOf(customerOf(ctx)),
    body: (denial: Denial, ctx: Context) => deniedBody(denial, ctx.get('accept')),
  };
  // Only a key that we gave out has a quota of its own: invented ones share their address's.
  const key = (ctx: Context): string | undefined => customerOf(ctx)?.name;
  return {
    /** By customer, as many as they pay for. */
    tier: rateLimit({
      ...common,
      keys: (ctx) => ({ tier: key(ctx) }),
      skip: (ctx) => UNCOUNTED.has(ctx.path),
    }),
    /** By customer and by what a search fetches. */
    search: rateLimit({
      ...common,
      keys: (ctx) => ({ search: key(ctx) }),
      cost: (ctx) => pagesOf(ctx.query.pages),
    }),
    /** By address. Logins that succeed give back what they cost: only guesses count. */
    login: rateLimit({
      ...common,
      keys: () => ({ login: undefined }),
      refundWhen: 'successful',
    }),
  };
}

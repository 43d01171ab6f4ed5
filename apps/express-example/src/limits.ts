import type { FallbackOptions, Store } from '@rl/core';
import type { Denial } from '@rl/core/http';
import {
  type Customer,
  deniedBody,
  findCustomer,
  pagesOf,
  STRANGER_LIMIT,
} from '@rl/example-service';
import { rateLimit } from '@rl/express';
import type { Request, RequestHandler } from 'express';

/** Paths that the tier does not count: `/login` has a limit of its own. */
const UNCOUNTED = new Set(['/health', '/login']);

export function customerOf(req: Request): Customer | undefined {
  return findCustomer(req.get('x-api-key'));
}

/**
 * The limits of the service, counted in `store`.
 *
 * @param fallback what they do while the store cannot answer
 */
export function createLimits(
  store: Store,
  fallback: FallbackOptions,
): Record<'tier' | 'search' | 'login', RequestHandler> {
  const common = {
    store,
    fallback,
    body: (denial: Denial, req: Request) => deniedBody(denial, req.get('accept')),
  };
  // Only a key that we gave out has a quota of its own: invented ones share their address's.
  const key = (req: Request): string | undefined => customerOf(req)?.name;
  return {
    /** By customer, as many as they pay for. */
    tier: rateLimit({
      ...common,
      name: 'tier',
      limit: (req) => customerOf(req)?.limit ?? STRANGER_LIMIT,
      window: '1m',
      key,
      skip: (req) => UNCOUNTED.has(req.path),
    }),
    /** By customer and by what a search fetches. */
    search: rateLimit({
      ...common,
      name: 'search',
      limit: 10,
      window: '1m',
      key,
      cost: (req) => pagesOf(req.query.pages),
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

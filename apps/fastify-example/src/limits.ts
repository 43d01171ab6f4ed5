import type { FallbackOptions, Store } from '@rl/core';
import type { Denial } from '@rl/core/http';
import {
  type Customer,
  deniedBody,
  findCustomer,
  pagesOf,
  STRANGER_LIMIT,
} from '@rl/example-service';
import type { RateLimitOptions } from '@rl/fastify';
import type { FastifyRequest } from 'fastify';

/** Routes that the tier does not count: `/login` has a limit of its own. */
const UNCOUNTED = new Set<unknown>(['/health', '/login']);

export function customerOf(request: FastifyRequest): Customer | undefined {
  return findCustomer(request.headers['x-api-key']);
}

/**
 * The limits of the service, counted in `store`.
 *
 * @param fallback what they do while the store cannot answer
 */
export function createLimits(
  store: Store,
  fallback: FallbackOptions,
): Record<'tier' | 'search' | 'login', RateLimitOptions> {
  const common = {
    store,
    fallback,
    body: (denial: Denial, request: FastifyRequest) => deniedBody(denial, request.headers.accept),
  };
  // Only a key that we gave out has a quota of its own: invented ones share their address's.
  const key = (request: FastifyRequest): string | undefined => customerOf(request)?.name;
  return {
    /** By customer, as many as they pay for. */
    tier: {
      ...common,
      name: 'tier',
      limit: (request) => customerOf(request)?.limit ?? STRANGER_LIMIT,
      window: '1m',
      key,
      skip: (request) => UNCOUNTED.has(request.routeOptions.url),
    },
    /** By customer and by what a search fetches. */
    search: {
      ...common,
      name: 'search',
      limit: 10,
      window: '1m',
      key,
      cost: (request) => pagesOf((request.query as { pages?: unknown }).pages),
    },
    /** By address. Logins that succeed give back what they cost: only guesses count. */
    login: {
      ...common,
      name: 'login',
      limit: 3,
      window: '15m',
      refundWhen: 'successful',
    },
  };
}

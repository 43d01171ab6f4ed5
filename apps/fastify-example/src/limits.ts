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
import type { RateLimitOptions } from '@rl/fastify';
import type { FastifyRequest } from 'fastify';

/** Routes that the tier does not count: `/login` has a limit of its own. */
const UNCOUNTED = new Set<unknown>(['/health', '/login']);

export function customerOf(request: FastifyRequest): Customer | undefined {
  return findCustomer(request.headers['x-api-key']);
}

/** The limits of the service, each by one policy of its limiter. */
export function createLimits(
  limiter: Limiter<ServicePolicy>,
): Record<ServicePolicy, RateLimitOptions> {
  const common = {
    limiter,
    policies: (request: FastifyRequest) => tierOf(customerOf(request)),
    body: (denial: Denial, request: FastifyRequest) => deniedBody(denial, request.headers.accept),
  };
  // Only a key that we gave out has a quota of its own: invented ones share their address's.
  const key = (request: FastifyRequest): string | undefined => customerOf(request)?.name;
  return {
    /** By customer, as many as they pay for. */
    tier: {
      ...common,
      keys: (request) => ({ tier: key(request) }),
      skip: (request) => UNCOUNTED.has(request.routeOptions.url),
    },
    /** By customer and by what a search fetches. */
    search: {
      ...common,
      keys: (request) => ({ search: key(request) }),
      cost: (request) => pagesOf((request.query as { pages?: unknown }).pages),
    },
    /** By address. Logins that succeed give back what they cost: only guesses count. */
    login: {
      ...common,
      keys: () => ({ login: undefined }),
      refundWhen: 'successful',
    },
  };
}

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
import { rateLimit } from '@rl/express';
import type { Request, RequestHandler } from 'express';

/** Paths that the tier does not count: `/login` has a limit of its own. */
const UNCOUNTED = new Set(['/health', '/login']);

export function customerOf(req: Request): Customer | undefined {
  return findCustomer(req.get('x-api-key'));
}

/** The limits of the service, each by one policy of its limiter. */
export function createLimits(
  limiter: Limiter<ServicePolicy>,
): Record<ServicePolicy, RequestHandler> {
  const common = {
    limiter,
    policies: (req: Request) => tierOf(customerOf(req)),
    body: (denial: Denial, req: Request) => deniedBody(denial, req.get('accept')),
  };
  // Only a key that we gave out has a quota of its own: invented ones share their address's.
  const key = (req: Request): string | undefined => customerOf(req)?.name;
  return {
    /** By customer, as many as they pay for. */
    tier: rateLimit({
      ...common,
      keys: (req) => ({ tier: key(req) }),
      skip: (req) => UNCOUNTED.has(req.path),
    }),
    /** By customer and by what a search fetches. */
    search: rateLimit({
      ...common,
      keys: (req) => ({ search: key(req) }),
      cost: (req) => pagesOf(req.query.pages),
    }),
    /** By address. Logins that succeed give back what they cost: only guesses count. */
    login: rateLimit({
      ...common,
      keys: () => ({ login: undefined }),
      refundWhen: 'successful',
    }),
  };
}

import {
  createLimiter,
  type FallbackOptions,
  type Limiter,
  type PolicyChanges,
  type Store,
} from '@rl/core';
import type { Customer, Tier } from './customers.js';

export type ServicePolicy = 'tier' | 'search' | 'login';

/** Requests a minute. */
const LIMITS: Readonly<Record<Tier, number>> = { stranger: 5, free: 5, paid: 20 };

/**
 * The limiter of the service, with a policy for each kind of limit.
 *
 * @param store where it counts
 * @param fallback what it does while the store cannot answer
 */
export function createServiceLimiter(
  store: Store,
  fallback: FallbackOptions,
): Limiter<ServicePolicy> {
  return createLimiter({
    store,
    fallback,
    policies: {
      tier: { limit: LIMITS.stranger, window: '1m', keyClass: 'stranger' },
      search: { limit: 10, window: '1m', keyClass: 'free' },
      login: { limit: 3, window: '15m', keyClass: 'address' },
    },
  });
}

/** What a customer's tier changes: the limit, and what metrics count the calls under. */
export function tierOf(customer: Customer | undefined): PolicyChanges<ServicePolicy> {
  return TIERS[customer?.tier ?? 'stranger'];
}

const TIERS: Readonly<Record<Tier, PolicyChanges<ServicePolicy>>> = {
  stranger: changesOf('stranger'),
  free: changesOf('free'),
  paid: changesOf('paid'),
};

function changesOf(keyClass: Tier): PolicyChanges<ServicePolicy> {
  return { tier: { limit: LIMITS[keyClass], keyClass }, search: { keyClass } };
}

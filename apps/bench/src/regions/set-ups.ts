import type { FallbackOptions, PolicyOptions, Store } from '@rl/core';
import { type RedisClient, redisStore, regionalStore } from '@rl/core/redis';

/** What a replica has to work with. */
export interface Site {
  /** Clients of its region's Redis, and of the one all regions share. */
  readonly region: RedisClient;
  readonly home: RedisClient;
  readonly regions: number;
  readonly roundTripMs: number;
  /** Wraps a store: told of each decision that it makes far away. */
  far(store: Store): Store;
}

/** One way to share a quota between regions. */
export interface SetUp {
  readonly name: string;
  /** What a region's limiters have for the policy of all. */
  policy(policy: PolicyOptions, regions: number): PolicyOptions;
  store(site: Site): Store;
  fallback(roundTripMs: number): FallbackOptions;
}

/** As long as three round trips, and no less than what is the default in one zone. */
const patience = (roundTripMs: number): FallbackOptions => ({
  deadline: Math.max(5, 3 * roundTripMs),
  replicas: 4,
});

/** By the names the command line and `docs/regions.md` have for them. */
export const SET_UPS: readonly SetUp[] = [
  {
    name: 'home',
    policy: (policy) => policy,
    store: ({ home, far }) => far(redisStore(home)),
    fallback: patience,
  },
  {
    name: 'home-leases',
    policy: (policy) => ({ ...policy, lease: { ttl: '2s' } }),
    store: ({ home, far }) => far(redisStore(home)),
    fallback: patience,
  },
  {
    name: 'shares',
    policy: (policy, regions) => ({ ...policy, limit: Math.floor(policy.limit / regions) }),
    store: ({ region }) => redisStore(region),
    fallback: () => ({ replicas: 2 }),
  },
  {
    name: 'regional',
    policy: (policy) => policy,
    store: ({ region, home, regions, roundTripMs, far }) =>
      regionalStore(region, {
        home: far(redisStore(home)),
        share: 1 / regions,
        homeDeadline: Math.max(5, 3 * roundTripMs),
      }),
    fallback: () => ({ replicas: 4 }),
  },
];

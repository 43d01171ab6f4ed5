import { checkOptionNames, invalidType, invalidValue } from '../errors.js';
import type { StoreEvent } from '../fallback/events.js';
import { type LeaseOptions, type LeaseTerms, parseLease } from '../policy/lease-terms.js';
import { type Policy, WITHOUT_LEASE } from '../policy/policy.js';
import type { RedisStoreOptions } from '../store/redis/redis-store.js';
import type { Store } from '../store/store.js';
import { formatDuration, parseDuration } from '../time/duration.js';

export interface RegionalStoreOptions extends RedisStoreOptions {
  /** Where the buckets of all regions live: a store such as `redisStore(client)`. */
  home: Store;
  /**
   * The region's part of every quota while the home store cannot be reached: above 0, up to 1. All
   * regions' parts together should be 1.
   */
  share: number;
  /**
   * How permits are leased from the home store to the region: as a policy's `lease`. Its `ttl` should be
   * some dozen round trips between the two. Default `{ ttl: "5s" }`.
   */
  lease?: LeaseOptions | undefined;
  /** How long the home store is waited for: 1 ms to 1 minute. Default 300 ms, and the `waitMs` of that store. */
  homeDeadline?: number | string | undefined;
  /** How long the region's own Redis is waited for: 1 ms to 1 minute. Default 5 ms. */
  deadline?: number | string | undefined;
  /** Told of trouble with the home store, and of its end, as a limiter's `fallback.onEvent` is. */
  onEvent?: ((event: StoreEvent) => void) | undefined;
}

/** The options after parsing. */
export interface RegionTerms {
  readonly home: Store;
  readonly share: number;
  readonly lease: LeaseOptions;
  readonly homeDeadlineMs: number;
  readonly deadlineMs: number;
  readonly onEvent: ((event: StoreEvent) => void) | undefined;
  readonly redis: RedisStoreOptions;
}

/** A policy as the home store has it, and as the region has it by itself. */
export interface RegionPolicies {
  /** With the lease that is the region's. */
  readonly atHome: Policy;
  readonly lease: LeaseTerms | undefined;
  /** The region's fixed share. */
  readonly alone: Policy;
  /** How long what a pool knows is of use when nothing is held any more. */
  readonly useMs: number;
}

const HOME_DEADLINE_MS = 300;
const DEADLINE_MS = 5;
const MAX_DEADLINE_MS = 60_000;
const LEASE: LeaseOptions = { ttl: '5s' };

/** What is owed to a bucket that has run full meanwhile need not be known for longer. */
const MAX_USE_MS = 86_400_000;

/** What a store has to have to be a home. */
const METHODS = ['consume', 'consumeAll', 'claim', 'refund', 'overcharge', 'reset'];

/** The shortest window whose permits can be leased, where windows are counted. */
const MIN_LEASED_WINDOW_MS = 10;

/** @throws TypeError or RangeError that names the field and shows the value */
export function parseRegion(options: RegionalStoreOptions): RegionTerms {
  if (typeof options !== 'object' || options === null) {
    throw invalidType('options', 'an object with home and share', options);
  }
  const names = ['home', 'share', 'lease', 'homeDeadline', 'deadline', 'onEvent'];
  checkOptionNames('', options, [...names, 'prefix', 'replicaId']);
  const { home, share, lease = LEASE, onEvent, prefix, replicaId } = options;
  const found = typeof home === 'object' && home !== null ? home : {};
  if (!METHODS.every((name) => name in found)) {
    throw invalidType('home', 'a store such as redisStore(client)', home);
  }
  if (typeof share !== 'number') throw invalidType('share', 'a number above 0, up to 1', share);
  if (!(share > 0 && share <= 1)) throw invalidValue('share', 'a number above 0, up to 1', share);
  if (typeof lease !== 'object' || lease === null || Array.isArray(lease)) {
    throw invalidType('lease', 'an object such as { ttl: "5s" }', lease);
  }
  parseLease('lease', lease, 1000, Number.POSITIVE_INFINITY);
  if (onEvent !== undefined && typeof onEvent !== 'function') {
    throw invalidType('onEvent', 'a function', onEvent);
  }
  const { waitMs = 0 } = home;
  const homeDeadline = options.homeDeadline ?? HOME_DEADLINE_MS + waitMs;
  const homeDeadlineMs = parseDeadline('homeDeadline', homeDeadline);
  if (homeDeadlineMs <= waitMs) {
    const expected = `above ${formatDuration(waitMs)}, the waitMs of the home store`;
    throw invalidValue('homeDeadline', expected, homeDeadline);
  }
  const redis: RedisStoreOptions = {};
  if (prefix !== undefined) redis.prefix = prefix;
  if (replicaId !== undefined) redis.replicaId = replicaId;
  return {
    home,
    share,
    lease,
    homeDeadlineMs,
    deadlineMs: parseDeadline('deadline', options.deadline ?? DEADLINE_MS),
    onEvent,
    redis,
  };
}

function parseDeadline(field: string, value: number | string): number {
  const ms = parseDuration(field, value);
  if (ms <= MAX_DEADLINE_MS) return ms;
  throw invalidValue(field, `at most ${formatDuration(MAX_DEADLINE_MS)}`, value);
}

/** What becomes of a policy in a region. */
export function regionPolicies(policy: Policy, terms: RegionTerms): RegionPolicies {
  const lease = canLease(policy) ? leaseOf(policy, terms.lease) : undefined;
  const atHome = Object.freeze({ ...policy, lease });
  const fillMs =
    policy.limit === 0 ? 0 : Math.ceil((policy.burst / policy.limit) * policy.windowMs);
  const longestMs = 2 * ((lease?.ttlMs ?? 0) + terms.homeDeadlineMs) + fillMs;
  return {
    atHome,
    lease,
    alone: aloneOf(policy, terms.share),
    useMs: Math.min(MAX_USE_MS, longestMs + 1000),
  };
}

function canLease({ algorithm, limit, windowMs }: Policy): boolean {
  if (limit === 0 || WITHOUT_LEASE[algorithm] !== undefined) return false;
  return algorithm === 'token-bucket' || windowMs >= MIN_LEASED_WINDOW_MS;
}

/**
 * As the options have it. Where they do not say how far ahead to claim, that is no more than a quarter of
 * the time in which the bucket fills up: all regions together then hold less than it has.
 */
function leaseOf(
  { burst, limit, windowMs }: Policy,
  options: LeaseOptions,
): LeaseTerms | undefined {
  const fillMs = (burst / limit) * windowMs;
  const made = parseLease('lease', options, burst, fillMs);
  if (made === undefined || options.horizon !== undefined) return made;
  const horizonMs = Math.max(1, Math.min(made.horizonMs, Math.floor(fillMs / 4)));
  return Object.freeze({ ...made, horizonMs });
}

/**
 * The region's part, rounded down, at least one permit. No user's policy can have its name. It has no
 * shards: it may be too small for as many, and the region's pool of the bucket is under one key as well.
 */
function aloneOf(policy: Policy, share: number): Policy {
  const part = (permits: number) =>
    permits === 0 ? 0 : Math.max(1, Math.floor(permits * share + 1e-9));
  return Object.freeze({
    ...policy,
    name: `${policy.name}/alone`,
    limit: part(policy.limit),
    burst: part(policy.burst),
    overdraft: Math.floor(policy.overdraft * share),
    lease: undefined,
    shards: undefined,
  });
}

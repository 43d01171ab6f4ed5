import { checkOptionNames, invalidType, invalidValue } from '../errors.js';
import { formatDuration, parseDuration } from '../time/duration.js';

/** How a policy's permits are leased. What is left out has a default that needs no thought. */
export interface LeaseOptions {
  /**
   * How long a replica may hold permits before it has spent them: from 100 ms to one minute.
   * Default 1 s. What a replica that crashes held is lost for at most twice as long.
   */
  ttl?: number | string | undefined;
  /**
   * For how long ahead a replica asks at its present demand: from 1 ms to half of `ttl`. Default:
   * three tenths of `ttl`. Longer means fewer calls of the store, and more permits that lie idle.
   */
  horizon?: number | string | undefined;
  /** The most that all replicas together hold, as a share of the burst: above 0, up to 1. Default 0.5. */
  maxShare?: number | undefined;
  /**
   * How long a replica waits before it asks again where permits ran short: from 1 ms to `ttl`.
   * Default: 60 ms, but not more than a quarter of the time in which an empty bucket fills up, which
   * a longer wait would leave full and so waste.
   */
  pace?: number | string | undefined;
}

/** How a policy's permits are leased, checked and complete. */
export interface LeaseTerms {
  readonly ttlMs: number;
  readonly horizonMs: number;
  /** Permits that all replicas together may hold: at least 1. */
  readonly share: number;
  readonly paceMs: number;
}

const MIN_TTL_MS = 100;
const MAX_TTL_MS = 60_000;
const TTL_MS = 1000;
const PACE_MS = 60;
const HORIZON_SHARE = 0.3;
const SHARE = 0.5;

/**
 * @param field what errors call the option
 * @param burst the policy's, in permits
 * @param fillMs the time in which an empty bucket fills up; infinite where it never does
 * @returns undefined where there are to be no leases
 * @throws TypeError or RangeError that names the field and shows the value
 */
export function parseLease(
  field: string,
  lease: unknown,
  burst: number,
  fillMs: number,
): LeaseTerms | undefined {
  if (lease === undefined || lease === false) return undefined;
  if (lease !== true && (typeof lease !== 'object' || lease === null || Array.isArray(lease))) {
    throw invalidType(field, 'true, false or an object such as { ttl: "1s" }', lease);
  }
  const options: LeaseOptions = lease === true ? {} : lease;
  checkOptionNames(field, options, ['ttl', 'horizon', 'maxShare', 'pace']);
  const ttlMs = parseWithin(`${field}.ttl`, options.ttl ?? TTL_MS, MIN_TTL_MS, MAX_TTL_MS);
  const longest = Math.floor(ttlMs / 2);
  const horizon = options.horizon ?? Math.floor(ttlMs * HORIZON_SHARE);
  const pace = options.pace ?? Math.max(1, Math.min(PACE_MS, ttlMs, Math.floor(fillMs / 4)));
  return Object.freeze({
    ttlMs,
    horizonMs: parseWithin(`${field}.horizon`, horizon, 1, longest),
    share: Math.max(1, Math.floor(burst * parseShare(`${field}.maxShare`, options.maxShare))),
    paceMs: parseWithin(`${field}.pace`, pace, 1, ttlMs),
  });
}

function parseWithin(field: string, value: unknown, min: number, max: number): number {
  const ms = parseDuration(field, value);
  if (ms >= min && ms <= max) return ms;
  throw invalidValue(field, `from ${formatDuration(min)} to ${formatDuration(max)}`, value);
}

function parseShare(field: string, share: unknown = SHARE): number {
  if (typeof share !== 'number') throw invalidType(field, 'a number above 0, up to 1', share);
  if (share > 0 && share <= 1) return share;
  throw invalidValue(field, 'a number above 0, up to 1', share);
}

/** True where both lease in the same way. */
export function sameTerms(a: LeaseTerms | undefined, b: LeaseTerms | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.ttlMs === b.ttlMs &&
    a.horizonMs === b.horizonMs &&
    a.share === b.share &&
    a.paceMs === b.paceMs
  );
}

/** `lease of 1s, horizon 250ms, share 50, pace 50ms`, for messages. */
export function describeTerms({ ttlMs, horizonMs, share, paceMs }: LeaseTerms): string {
  const [ttl, horizon, pace] = [ttlMs, horizonMs, paceMs].map(formatDuration);
  return `lease of ${ttl}, horizon ${horizon}, share ${share}, pace ${pace}`;
}

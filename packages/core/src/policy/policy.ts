import { checkInteger, MAX_AMOUNT } from '../arith/integers.js';
import { checkOptionNames, invalidType, invalidValue, show } from '../errors.js';
import { formatDuration, parseDuration } from '../time/duration.js';
import { FALLBACK_MODES, type FallbackMode } from './fallback-mode.js';
import {
  describeTerms,
  type LeaseOptions,
  type LeaseTerms,
  parseLease,
  sameTerms,
} from './lease-terms.js';
import { parseShards } from './shard-count.js';

/** The algorithms a policy can ask for. */
export const ALGORITHMS = [
  'token-bucket',
  'gcra',
  'fixed-window',
  'sliding-window',
  'sliding-log',
] as const;
export type Algorithm = (typeof ALGORITHMS)[number];

/** A policy as an app writes it. */
export interface PolicyOptions {
  /** Permits per window: an integer, at least 0. 0 denies every call that costs something. */
  limit: number;
  /** Over how long: milliseconds, or a text such as `"500ms"`, `"10s"`, `"1m"`, `"1 day"`. */
  window: number | string;
  /**
   * Permits in a full bucket, so the most that can be spent at once: an integer, at least 1.
   * Default: `limit`. `burst × window in ms` must stay below 2^53.
   */
  burst?: number | undefined;
  /** Default: `"token-bucket"`. */
  algorithm?: Algorithm | undefined;
  /**
   * How far below zero `settle` may take a bucket, in permits: an integer, at least 0. Default:
   * `burst`, or what integers leave room for.
   */
  overdraft?: number | undefined;
  /**
   * True only watches: calls are counted, and their decisions say `wouldDeny`, but none is denied.
   * Default false.
   */
  shadow?: boolean | undefined;
  /**
   * Lets each replica hold permits in advance, so that most calls are decided without the store and
   * the quota stays exact. True, or how. For `"token-bucket"`, `"fixed-window"` and
   * `"sliding-window"`. Default false. A store in memory needs no leases, and has none.
   */
  lease?: boolean | LeaseOptions | undefined;
  /**
   * For keys too hot for one primary of a Redis Cluster: keeps each bucket as so many sub-buckets in
   * different slots, each with its share of limit, burst and overdraft. An integer from 1 to 64 that
   * leaves each at least 10 permits of limit and burst. What is admitted stays within the policy; its
   * `remaining` is approximate, and a call under several policies is charged one after the other.
   * Another number begins new, full buckets. Default 1: one bucket. A store in memory needs no shards,
   * and has none.
   */
  shards?: number | undefined;
  /** What becomes of its calls while the store cannot answer. Default: the limiter's. */
  fallback?: FallbackMode | undefined;
  /**
   * Of which kind its keys are, such as a tier: 1 to 64 letters, digits, `_`, `.` or `-`, beginning with
   * a letter or a digit. Metrics count by it, and nothing else: never a client, a path or what else
   * clients choose. Of a policy up to 32 are counted apart, the others as `other`. Default `"default"`.
   */
  keyClass?: string | undefined;
}

/** A policy after parsing: checked, complete and frozen. */
export interface Policy {
  readonly name: string;
  readonly algorithm: Algorithm;
  /** Permits per window. */
  readonly limit: number;
  readonly windowMs: number;
  /** Permits in a full bucket. 0 exactly when `limit` is 0; `limit` where windows are counted. */
  readonly burst: number;
  /** Permits that `settle` may take below zero. */
  readonly overdraft: number;
  readonly shadow: boolean;
  /** Undefined where every call is decided by the store. */
  readonly lease: LeaseTerms | undefined;
  /** In how many sub-buckets Redis keeps a bucket: at least 2. Undefined: it is one. */
  readonly shards: number | undefined;
  /** Undefined: as the limiter has it. */
  readonly fallback: FallbackMode | undefined;
  /** What its decisions are counted under. */
  readonly keyClass: string;
}

/** All of `PolicyOptions`: the compiler sees that none is missing. */
const OPTIONS: { readonly [Name in keyof PolicyOptions]-?: true } = {
  limit: true,
  window: true,
  burst: true,
  algorithm: true,
  overdraft: true,
  shadow: true,
  lease: true,
  shards: true,
  fallback: true,
  keyClass: true,
};

/** The options of a policy, by name: for whoever takes them beside options of its own. */
export const POLICY_OPTION_NAMES: readonly string[] = Object.keys(OPTIONS);

/** The shortest window whose permits can be leased, where windows are counted. */
const MIN_LEASED_WINDOW_MS = 10;

/** Those that cannot be leased, and why. */
export const WITHOUT_LEASE: { readonly [A in Algorithm]?: string } = {
  gcra: 'which has each call wait its turn: permits held in advance would be spent out of turn; token-bucket can be leased',
  'sliding-log':
    'which keeps the instant of each call: of permits held in advance it cannot know it; sliding-window can be leased',
};

/** Those for which a burst other than the limit means something. */
const WITH_BURST: readonly Algorithm[] = ['token-bucket', 'gcra'];

/** The largest limit of a sliding log, which keeps 16 bytes for each call it has allowed. */
export const MAX_LOG_LIMIT = 10_000;

/** A name is a part of bucket keys, a header value and a metric label, and a key class a label: they stay within these. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/**
 * Checks a policy and completes it. Nothing is rounded or converted.
 *
 * @param name 1 to 64 letters, digits, `_`, `.` or `-`, beginning with a letter or a digit
 * @param where what errors call the policy: with `"policies.tenant"`, `policies.tenant.limit`
 * @throws TypeError or RangeError that names the field and shows the value
 */
export function parsePolicy(name: string, options: PolicyOptions, where: string): Policy {
  if (typeof options !== 'object' || options === null) {
    throw invalidType(where || 'policy', 'an object with limit and window', options);
  }
  checkOptionNames(where, options, POLICY_OPTION_NAMES);
  const at = (field: string) => (where === '' ? field : `${where}.${field}`);
  checkName(at('name'), name);
  const { keyClass = 'default' } = options;
  if (typeof keyClass !== 'string') throw invalidType(at('keyClass'), 'a text', keyClass);
  checkName(at('keyClass'), keyClass);
  const algorithm = options.algorithm ?? 'token-bucket';
  if (!ALGORITHMS.includes(algorithm)) {
    throw invalidValue(at('algorithm'), `one of ${ALGORITHMS.map(show).join(', ')}`, algorithm);
  }
  const limit = checkInteger(at('limit'), options.limit, 0);
  if (algorithm === 'sliding-log' && limit > MAX_LOG_LIMIT) {
    const expected = `at most ${MAX_LOG_LIMIT} with sliding-log, which keeps every call; sliding-window has no such bound`;
    throw invalidValue(at('limit'), expected, limit);
  }
  const windowMs = parseDuration(at('window'), options.window);
  const { shadow = false, fallback } = options;
  if (fallback !== undefined && !FALLBACK_MODES.includes(fallback)) {
    throw invalidValue(at('fallback'), `one of ${FALLBACK_MODES.map(show).join(', ')}`, fallback);
  }
  if (typeof shadow !== 'boolean') throw invalidType(at('shadow'), 'true or false', shadow);
  const burst = parseBurst(at('burst'), options.burst, limit, algorithm);
  // The sliding window adds up two windows.
  const share = algorithm === 'sliding-window' ? 2 : 1;
  const most = Math.floor(MAX_AMOUNT / windowMs / share);
  if (burst > most) {
    const field = options.burst === undefined ? 'limit' : 'burst';
    throw invalidValue(at(field), `at most ${most} with a window of ${windowMs} ms`, burst);
  }
  const overdraft = parseOverdraft(at('overdraft'), options.overdraft, burst, most);
  const why = WITHOUT_LEASE[algorithm];
  if (why !== undefined && options.lease !== undefined && options.lease !== false) {
    throw invalidValue(at('lease'), `left out with ${algorithm}, ${why}`, options.lease);
  }
  if (options.lease && !WITH_BURST.includes(algorithm) && windowMs < MIN_LEASED_WINDOW_MS) {
    const expected = `left out with a window below ${MIN_LEASED_WINDOW_MS} ms, which ends before a lease is used`;
    throw invalidValue(at('lease'), expected, options.lease);
  }
  const fillMs = limit === 0 ? Number.POSITIVE_INFINITY : (burst / limit) * windowMs;
  const lease = parseLease(at('lease'), options.lease, burst, fillMs);
  const shards = parseShards(at('shards'), options.shards, limit, burst);
  return Object.freeze({
    name,
    algorithm,
    limit,
    windowMs,
    burst,
    overdraft,
    shadow,
    lease,
    shards,
    fallback,
    keyClass,
  });
}

function checkName(field: string, name: string): void {
  if (NAME.test(name)) return;
  const expected = '1 to 64 letters, digits, "_", "." or "-", beginning with a letter or a digit';
  throw invalidValue(field, expected, name);
}

function parseBurst(
  field: string,
  burst: number | undefined,
  limit: number,
  algorithm: Algorithm,
): number {
  if (burst === undefined) return limit;
  if (limit === 0) throw invalidValue(field, 'left out where limit is 0', burst);
  if (!WITH_BURST.includes(algorithm)) {
    throw invalidValue(field, `left out with ${algorithm}, where the limit is the burst`, burst);
  }
  return checkInteger(field, burst, 1);
}

/** @param most permits that integers have room for, burst included; a limit of 0 has no overdraft */
function parseOverdraft(
  field: string,
  overdraft: number | undefined,
  burst: number,
  most: number,
): number {
  const room = burst === 0 ? 0 : most - burst;
  if (overdraft === undefined) return Math.min(burst, room);
  return checkInteger(field, overdraft, 0, room);
}

/** True where two policies of one name mean the same. */
export function samePolicy(a: Policy, b: Policy): boolean {
  return (
    a.algorithm === b.algorithm &&
    a.limit === b.limit &&
    a.windowMs === b.windowMs &&
    a.burst === b.burst &&
    a.overdraft === b.overdraft &&
    a.shards === b.shards &&
    sameTerms(a.lease, b.lease)
  );
}

/** `100 per 1m, burst 20`, for messages. */
export function describePolicy(policy: Policy): string {
  const { limit, windowMs, burst, lease, shards } = policy;
  const leased = lease === undefined ? '' : `, ${describeTerms(lease)}`;
  const sharded = shards === undefined ? '' : `, ${shards} shards`;
  return `${limit} per ${formatDuration(windowMs)}, burst ${burst}${leased}${sharded}`;
}

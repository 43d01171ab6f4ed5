import type { Decision, Denied } from '../decision/decision.js';
import { formatDuration } from '../time/duration.js';
import { toSeconds } from './headers/structured-field.js';

/** Why a request is answered and goes no further. */
export interface Denial {
  /** 429 where a quota is exceeded; 503 where that cannot be found out. */
  readonly status: 429 | 503;
  /** What kind of problem it is, as a URI: see draft-ietf-httpapi-ratelimit-headers. Not yet registered. */
  readonly type: string;
  /** The same in words: `Quota Exceeded`. */
  readonly title: string;
  /** A sentence or two for people: `The quota is 5 per 1m. Try again in 12 s.` */
  readonly detail: string;
  /** Names of the policies that denied. */
  readonly violatedPolicies: readonly string[];
  /** Whole seconds, at least 1, as in Retry-After; undefined where no wait would help. */
  readonly retryAfterS: number | undefined;
  /** Undefined where the request does not say whom it is to be charged to. */
  readonly decision: Denied | undefined;
}

type Problem = Pick<Denial, 'status' | 'type' | 'title'>;

const QUOTA_EXCEEDED: Problem = {
  type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
  title: 'Quota Exceeded',
  status: 429,
};
const REDUCED_CAPACITY: Problem = {
  type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
  title: 'Temporary Reduced Capacity',
  status: 503,
};

/**
 * It is 429 where a quota is exceeded, by the store or by a local fallback, and 503 where all policies
 * that denied did so as their fallback is `closed`: then it is not the client that did too much, and
 * nothing is said of a quota.
 *
 * Where some did one and some the other, the client has exceeded a quota, whatever else is wrong:
 * 429, naming those exceeded alone and with the longest wait of theirs. When the store is back nobody
 * can say, so the wait of a closed one is a guess beside it.
 *
 * @param jitterS seconds that the wait is longer than needed, so that clients do not come back together
 */
export function denialOf(decision: Denied, jitterS = 0): Denial {
  const all = decision.each?.filter((one) => !one.allowed) ?? [decision];
  const exceeded = all.filter((one) => !isClosed(one));
  const isExceeded = exceeded.length > 0;
  const denials = isExceeded ? exceeded : all;
  const binding = longestOf(denials);
  const retryAfterS = retryAfter(binding, isExceeded, jitterS);
  return {
    ...(isExceeded ? QUOTA_EXCEEDED : REDUCED_CAPACITY),
    detail: isExceeded ? quotaDetail(binding, retryAfterS) : closedDetail(retryAfterS),
    violatedPolicies: denials.map(({ policy }) => policy),
    retryAfterS,
    decision,
  };
}

/** The 429 for a request that does not say whom it is to be charged to: no wait would help. */
export function denialOfUnnamed(policy: string): Denial {
  return {
    ...QUOTA_EXCEEDED,
    detail: 'This request does not say whom it is to be charged to.',
    violatedPolicies: [policy],
    retryAfterS: undefined,
    decision: undefined,
  };
}

/**
 * Undefined where the cost can never fit, since no wait would help. At least 1: clients take 0 for "at
 * once".
 */
function retryAfter(
  { retryAfterMs }: Denied,
  isExceeded: boolean,
  jitterS: number,
): number | undefined {
  if (retryAfterMs === undefined && isExceeded) return undefined;
  return Math.max(1, toSeconds(retryAfterMs ?? 0)) + jitterS;
}

function quotaDetail({ limit, windowMs }: Denied, retryAfterS: number | undefined): string {
  const advice =
    retryAfterS === undefined
      ? 'This request costs more than can ever be spent at once.'
      : `Try again in ${retryAfterS} s.`;
  return `The quota is ${limit} per ${formatDuration(windowMs)}. ${advice}`;
}

function closedDetail(retryAfterS: number | undefined): string {
  return `Quotas cannot be checked right now. Try again in ${retryAfterS} s.`;
}

function isClosed({ fallback }: Decision): boolean {
  return fallback?.mode === 'closed';
}

/** The denial with the longest wait; one that no wait would help counts as longest. */
function longestOf(denials: readonly Denied[]): Denied {
  return denials.reduce((a, b) => (waitOf(b) > waitOf(a) ? b : a));
}

function waitOf({ retryAfterMs }: Denied): number {
  return retryAfterMs ?? Number.POSITIVE_INFINITY;
}

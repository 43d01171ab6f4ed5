import type { Decision, Denied } from '../decision/decision.js';
import { formatDuration } from '../time/duration.js';
import { type Header, toSeconds } from './headers.js';

/** What a denied request is answered with, besides the RateLimit fields. */
export interface Refusal {
  /** 429 where a quota is exceeded; 503 where that cannot be found out. */
  readonly status: 429 | 503;
  readonly headers: readonly Header[];
  /** A problem document (RFC 9457) as JSON text. */
  readonly body: string;
}

interface ProblemType {
  readonly type: string;
  readonly title: string;
  readonly status: 429 | 503;
}

/** From draft-ietf-httpapi-ratelimit-headers; not yet registered. */
const QUOTA_EXCEEDED: ProblemType = {
  type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
  title: 'Quota Exceeded',
  status: 429,
};
const REDUCED_CAPACITY: ProblemType = {
  type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
  title: 'Temporary Reduced Capacity',
  status: 503,
};

/**
 * The answer to a denial. It is 429 where a quota is exceeded, by the store or by a local fallback,
 * and 503 where all policies that denied did so as their fallback is `closed`: then it is not the
 * client that did too much, and nothing is said of a quota.
 *
 * Where some did one and some the other, the client has exceeded a quota, whatever else is wrong:
 * 429, naming those exceeded alone and with the longest wait of theirs. When the store is back nobody
 * can say, so the wait of a closed one is a guess beside it.
 */
export function refusalOf(denied: Denied): Refusal {
  const all = denied.each?.filter((decision) => !decision.allowed) ?? [denied];
  const exceeded = all.filter((decision) => !isClosed(decision));
  return exceeded.length > 0 ? quotaExceeded(exceeded) : reducedCapacity(all);
}

/** The 429 for a request that does not say whom it is to be charged to: no wait would help. */
export function refusalOfUnnamed(policy: string): Refusal {
  const detail = 'This request does not say whom it is to be charged to.';
  return problemOf(QUOTA_EXCEEDED, detail, [policy], undefined);
}

/** Without Retry-After where the cost can never fit, since no wait would help. */
function quotaExceeded(exceeded: readonly Denied[]): Refusal {
  const binding = longestOf(exceeded);
  const waitS = binding.retryAfterMs === undefined ? undefined : retryAfterS(binding.retryAfterMs);
  const quota = `The quota is ${binding.limit} per ${formatDuration(binding.windowMs)}.`;
  const advice =
    waitS === undefined
      ? 'This request costs more than can ever be spent at once.'
      : `Try again in ${waitS} s.`;
  return problemOf(QUOTA_EXCEEDED, `${quota} ${advice}`, namesOf(exceeded), waitS);
}

function reducedCapacity(closed: readonly Denied[]): Refusal {
  const waitS = retryAfterS(longestOf(closed).retryAfterMs ?? 0);
  const detail = `Quotas cannot be checked right now. Try again in ${waitS} s.`;
  return problemOf(REDUCED_CAPACITY, detail, namesOf(closed), waitS);
}

function problemOf(
  problem: ProblemType,
  detail: string,
  violated: readonly string[],
  waitS: number | undefined,
): Refusal {
  const headers: Header[] = [
    ['Content-Type', 'application/problem+json'],
    ['Cache-Control', 'no-store'],
  ];
  if (waitS !== undefined) headers.push(['Retry-After', `${waitS}`]);
  const body = JSON.stringify({ ...problem, detail, 'violated-policies': violated });
  return { status: problem.status, headers, body };
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

function namesOf(denials: readonly Denied[]): readonly string[] {
  return denials.map(({ policy }) => policy);
}

/** Whole seconds, at least 1: clients take 0 for "at once". */
function retryAfterS(retryAfterMs: number): number {
  return Math.max(1, toSeconds(retryAfterMs));
}

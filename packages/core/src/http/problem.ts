import type { Denied } from '../decision/decision.js';
import { formatDuration } from '../time/duration.js';
import { type Header, toSeconds } from './headers.js';

/** What a denied request is answered with, besides the RateLimit fields. */
export interface Refusal {
  readonly status: 429;
  readonly headers: readonly Header[];
  /** A problem document (RFC 9457) as JSON text. */
  readonly body: string;
}

/** From draft-ietf-httpapi-ratelimit-headers; not yet registered. */
const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded';

/**
 * The 429 for a denial. Of several policies that denied, `denied` is the one with the longest wait;
 * all are named. Retry-After is in whole seconds, at least 1, and left out where the cost can never
 * fit, since no wait would help.
 */
export function refusalOf(denied: Denied): Refusal {
  const { retryAfterMs, each } = denied;
  const violated = each?.filter(({ allowed }) => !allowed) ?? [denied];
  const problem = problemOf(
    detailOf(denied),
    violated.map(({ policy }) => policy),
  );
  if (retryAfterMs === undefined) return problem;
  const wait: Header = ['Retry-After', `${retryAfterS(retryAfterMs)}`];
  return { ...problem, headers: [...problem.headers, wait] };
}

/** The 429 for a request that does not say whom it is to be charged to: no wait would help. */
export function refusalOfUnnamed(policy: string): Refusal {
  return problemOf('This request does not say whom it is to be charged to.', [policy]);
}

function problemOf(detail: string, violated: readonly string[]): Refusal {
  const body = JSON.stringify({
    type: QUOTA_EXCEEDED,
    title: 'Quota Exceeded',
    status: 429,
    detail,
    'violated-policies': violated,
  });
  const headers: Header[] = [
    ['Content-Type', 'application/problem+json'],
    ['Cache-Control', 'no-store'],
  ];
  return { status: 429, headers, body };
}

function retryAfterS(retryAfterMs: number): number {
  return Math.max(1, toSeconds(retryAfterMs));
}

function detailOf({ limit, windowMs, retryAfterMs }: Denied): string {
  const quota = `The quota is ${limit} per ${formatDuration(windowMs)}.`;
  if (retryAfterMs === undefined) {
    return `${quota} This request costs more than can ever be spent at once.`;
  }
  return `${quota} Try again in ${retryAfterS(retryAfterMs)} s.`;
}

import type { Denied } from '../decision/decision.js';
import type { Policy } from '../policy/policy.js';
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
 * The 429 for a denial. Retry-After is in whole seconds, at least 1, and left out where the cost
 * can never fit, since no wait would help.
 */
export function refusalOf(policy: Policy, denied: Denied): Refusal {
  const { retryAfterMs } = denied;
  const headers: Header[] = [
    ['Content-Type', 'application/problem+json'],
    ['Cache-Control', 'no-store'],
  ];
  if (retryAfterMs !== undefined) headers.push(['Retry-After', `${retryAfterS(retryAfterMs)}`]);
  const body = JSON.stringify({
    type: QUOTA_EXCEEDED,
    title: 'Quota Exceeded',
    status: 429,
    detail: detail(policy, retryAfterMs),
    'violated-policies': [policy.name],
  });
  return { status: 429, headers, body };
}

function retryAfterS(retryAfterMs: number): number {
  return Math.max(1, toSeconds(retryAfterMs));
}

function detail(policy: Policy, retryAfterMs: number | undefined): string {
  const quota = `The quota is ${policy.limit} per ${formatDuration(policy.windowMs)}.`;
  if (retryAfterMs === undefined) {
    return `${quota} This request costs more than can ever be spent at once.`;
  }
  return `${quota} Try again in ${retryAfterS(retryAfterMs)} s.`;
}

import type { Decision } from '../decision/decision.js';

/** A response header, by its usual spelling. */
export type Header = readonly [name: string, value: string];

/** The largest integer of a structured field (RFC 9651, section 3.3.1). */
const MAX_FIELD_INTEGER = 999_999_999_999_999;

/** Whole seconds, rounded up, so that a client that obeys is never a moment too early. */
export function toSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

/**
 * The fields of draft-ietf-httpapi-ratelimit-headers-11, both with a member for each decision, in
 * their order; none where there is none to tell of. What an open or closed fallback decided is left
 * out of both: nobody knows what is left in its bucket.
 */
export function rateLimitFields(decisions: readonly Decision[]): readonly Header[] {
  const known = decisions.every(isKnown) ? decisions : decisions.filter(isKnown);
  const [first] = known;
  if (first === undefined) return [];
  const alone = known.length === 1;
  return [
    ['RateLimit-Policy', alone ? policyMember(first) : known.map(policyMember).join(', ')],
    ['RateLimit', alone ? stateMember(first) : known.map(stateMember).join(', ')],
  ];
}

/** A local fallback counts, if only for this replica, and a region's share does; the others do not. */
function isKnown({ fallback }: Decision): boolean {
  return fallback === undefined || fallback.mode === 'local' || fallback.mode === 'region';
}

/** What was last told of a policy, by its name: it seldom changes, and is on every response. */
const TOLD = new Map<string, { limit: number; windowMs: number; member: string }>();

/** Most names that are kept. */
const MAX_TOLD = 1000;

/**
 * Of RateLimit-Policy: `"tenant";q=100;w=60`, with the limit that was in force. The window is left
 * out where it is not of whole seconds, as the field has no other unit. The name needs no escape:
 * see `parsePolicy`.
 */
function policyMember({ policy, limit, windowMs }: Decision): string {
  const told = TOLD.get(policy);
  if (told !== undefined && told.limit === limit && told.windowMs === windowMs) return told.member;
  const member = writePolicyMember(policy, limit, windowMs);
  if (TOLD.size >= MAX_TOLD) TOLD.clear();
  TOLD.set(policy, { limit, windowMs, member });
  return member;
}

function writePolicyMember(policy: string, limit: number, windowMs: number): string {
  const window = windowMs % 1000 === 0 ? `;w=${clamp(windowMs / 1000)}` : '';
  return `"${policy}";q=${clamp(limit)}${window}`;
}

/**
 * Of RateLimit: `"tenant";r=42;t=17`. `t` is the time within which no more than `r` can be had: the
 * refill of one more permit, or the wait for the denied cost. It is left out where the bucket is
 * full.
 */
function stateMember(decision: Decision): string {
  const waitMs = decision.retryAfterMs ?? decision.refillAfterMs;
  const time = waitMs === undefined ? '' : `;t=${clamp(toSeconds(waitMs))}`;
  return `"${decision.policy}";r=${clamp(decision.remaining)}${time}`;
}

/**
 * A list field with one more member, behind what other limiters have written: `a, b`.
 * @param before the header as the framework gives it; nothing where it is not set
 */
export function appendToField(before: unknown, value: string): string {
  return before === undefined || before === '' ? value : `${before}, ${value}`;
}

function clamp(value: number): number {
  return Math.min(value, MAX_FIELD_INTEGER);
}

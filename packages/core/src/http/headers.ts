import type { Decision } from '../decision/decision.js';
import type { Policy } from '../policy/policy.js';

/** A response header, by its usual spelling. */
export type Header = readonly [name: string, value: string];

/** The largest integer of a structured field (RFC 9651, section 3.3.1). */
const MAX_FIELD_INTEGER = 999_999_999_999_999;

/** Whole seconds, rounded up, so that a client that obeys is never a moment too early. */
export function toSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

/**
 * The RateLimit-Policy field of draft-ietf-httpapi-ratelimit-headers-11: `"tenant";q=100;w=60`.
 * The window is left out where it is not of whole seconds, as the field has no other unit.
 * The name needs no escape: see `parsePolicy`.
 */
export function policyField(policy: Policy): string {
  const window = policy.windowMs % 1000 === 0 ? `;w=${clamp(policy.windowMs / 1000)}` : '';
  return `"${policy.name}";q=${clamp(policy.limit)}${window}`;
}

/**
 * The RateLimit field of the same draft: `"tenant";r=42;t=17`. `t` is the time within which no
 * more than `r` can be had: the refill of one more permit, or the wait for the denied cost. It is
 * left out where the bucket is full.
 */
export function stateField(decision: Decision): string {
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

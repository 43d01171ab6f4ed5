import type { Decision } from '../../../src/decision/decision.js';
import type { Header, Told } from '../../../src/http/headers/header.js';

/** What is told of one policy: 5 per minute, 4 left, one more in 12 s; but for `facts`. */
export function told(facts: Partial<Decision> = {}, key = 'ann'): Told {
  const decision = {
    allowed: true,
    policy: 'p',
    limit: 5,
    windowMs: 60_000,
    remaining: 4,
    retryAfterMs: undefined,
    refillAfterMs: 12_000,
    resetAfterMs: 12_000,
    origin: 'store',
    fallback: undefined,
    wouldDeny: false,
    decidedAtMs: 0,
    each: undefined,
    ...facts,
  } as Decision;
  return { decision, key };
}

/** The same of a denial, with nothing left. */
export function toldDenied(retryAfterMs: number | undefined, facts: Partial<Decision> = {}): Told {
  const denied = { allowed: false, retryAfterMs, remaining: 0, ...facts };
  return told(denied as Partial<Decision>);
}

export function byName(headers: readonly Header[]): Record<string, string> {
  return Object.fromEntries(headers);
}

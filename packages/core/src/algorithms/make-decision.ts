import type { Decision, Origin } from '../decision/decision.js';
import type { Policy } from '../policy/policy.js';

/**
 * A decision. All have one shape, whatever they say, so that what reads them stays fast.
 *
 * @param fits whether the cost fitted and was charged; a shadow policy allows the call all the same
 * @param retryAfterMs time until the cost fits; undefined where it never will. Told on a denial
 * @param refillAfterMs time until `remaining` grows; undefined where it cannot
 */
export function makeDecision(
  policy: Policy,
  fits: boolean,
  remaining: number,
  retryAfterMs: number | undefined,
  refillAfterMs: number | undefined,
  resetAfterMs: number,
  decidedAtMs: number,
  origin: Origin,
): Decision {
  const allowed = fits || policy.shadow;
  return {
    allowed,
    policy: policy.name,
    limit: policy.limit,
    windowMs: policy.windowMs,
    remaining,
    retryAfterMs: allowed ? undefined : retryAfterMs,
    refillAfterMs,
    resetAfterMs,
    origin,
    fallback: undefined,
    wouldDeny: !fits && policy.shadow,
    decidedAtMs,
    each: undefined,
  } as Decision;
}

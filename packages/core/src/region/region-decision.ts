import { makeDecision } from '../algorithms/make-decision.js';
import type { Decision } from '../decision/decision.js';
import type { StoreFault } from '../errors.js';
import type { Policy } from '../policy/policy.js';
import type { PoolAnswer } from '../store/redis/region-pool.js';

/**
 * A decision by what the region holds: of the whole quota, as far as is known of it here.
 * @param denial where the cost does not fit: how long until it does; undefined: it never will
 */
export function decideByPool(
  policy: Policy,
  { left, home, grantedAtMs, nowMs }: PoolAnswer,
  denial?: { readonly retryAfterMs: number | undefined },
): Decision {
  const atHome = home === undefined ? 0 : home.resetAfterMs === 0 ? policy.burst : home.left;
  const remaining = Math.min(policy.burst, atHome + left);
  const isFull = remaining === policy.burst;
  return makeDecision(
    policy,
    denial === undefined,
    remaining,
    denial?.retryAfterMs,
    isFull ? undefined : Math.max(1, home?.refillAfterMs ?? 1),
    // Full no earlier than there is what was asked for.
    isFull ? 0 : Math.max(1, home?.resetAfterMs ?? 1, denial?.retryAfterMs ?? 1),
    grantedAtMs === 0 ? nowMs : grantedAtMs,
    'store',
  );
}

/** A decision by the region's fixed share, told as one of the whole policy's. */
export function decideAlone(policy: Policy, decision: Decision, fault: StoreFault): Decision {
  const { limit, name } = policy;
  const fallback = { mode: 'region', fault } as const;
  return { ...decision, policy: name, limit, origin: 'fallback', fallback } as Decision;
}

/** A look at a bucket, as the decision on a cost that is not taken. */
export function decideByLook(policy: Policy, look: Decision, cost: number): Decision {
  if (look.remaining >= cost || policy.shadow) return look;
  const retryAfterMs = cost > policy.burst ? undefined : (look.refillAfterMs ?? 1);
  return { ...look, allowed: false, retryAfterMs } as Decision;
}

import type { Policy } from '../policy/policy.js';

/**
 * The part of a policy that one of `replicas` replicas may use by itself. Together they admit no more
 * than the policy does, but that each has a burst of one permit at least.
 *
 * A bucket refills exactly its part of the rate: the same limit over as many windows. Where windows
 * are counted, what does not divide evenly is left unused: 10 per window are 3 each for 3 replicas.
 */
export function shareOf(policy: Policy, replicas: number): Policy {
  if (replicas === 1) return policy;
  const { limit, windowMs } = policy;
  const burst = policy.burst === 0 ? 0 : Math.max(1, Math.floor(policy.burst / replicas));
  const overdraft = Math.floor(policy.overdraft / replicas);
  const rate = isBucket(policy)
    ? { limit, windowMs: windowMs * replicas }
    : { limit: burst, windowMs };
  return Object.freeze({ ...policy, ...rate, burst, overdraft });
}

/** True where permits come back one by one: what is put back cannot come into a later window. */
export function isBucket({ algorithm }: Policy): boolean {
  return algorithm === 'token-bucket' || algorithm === 'gcra';
}

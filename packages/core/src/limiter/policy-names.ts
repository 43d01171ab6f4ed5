import { policyConflict } from '../errors.js';
import { describePolicy, type Policy, samePolicy } from '../policy/policy.js';
import type { Store } from '../store/store.js';

interface Claim {
  readonly policy: Policy;
  limiters: number;
}

const CLAIMS = new WeakMap<Store, Map<string, Claim>>();

/**
 * Notes that a limiter uses these policies on this store. Limiters that share a store and a policy
 * name share its buckets; that is wanted where the policies are the same, and a mistake where they
 * are not: two routes would spend each other's quota.
 *
 * @returns gives the names up again, when the limiter is closed
 * @throws TypeError, with nothing noted, where a name is in use with other values
 */
export function claimNames(store: Store, policies: ReadonlyMap<string, Policy>): () => void {
  const claims = CLAIMS.get(store) ?? new Map<string, Claim>();
  for (const policy of policies.values()) {
    const other = claims.get(policy.name)?.policy;
    if (other === undefined || samePolicy(other, policy)) continue;
    throw policyConflict(policy.name, `${describePolicy(other)}; now ${describePolicy(policy)}`);
  }
  CLAIMS.set(store, claims);
  for (const policy of policies.values()) {
    const claim = claims.get(policy.name) ?? { policy, limiters: 0 };
    claim.limiters++;
    claims.set(policy.name, claim);
  }
  return () => {
    for (const name of policies.keys()) {
      const claim = claims.get(name);
      if (claim !== undefined && --claim.limiters === 0) claims.delete(name);
    }
  };
}

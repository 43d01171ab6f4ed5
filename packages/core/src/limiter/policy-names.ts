import { policyConflict } from '../errors.js';
import { describePolicy, type Policy, samePolicy } from '../policy/policy.js';
import type { Store } from '../store/store.js';

interface NameUse {
  readonly policy: Policy;
  limiters: number;
}

const USES = new WeakMap<Store, Map<string, NameUse>>();

/**
 * Notes that a limiter uses these policies on this store. Limiters that share a store and a policy
 * name share its buckets; that is wanted where the policies are the same, and a mistake where they
 * are not: two routes would spend each other's quota.
 *
 * @returns gives the names up again, when the limiter is closed
 * @throws TypeError, with nothing noted, where a name is in use with other values
 */
export function useNames(store: Store, policies: ReadonlyMap<string, Policy>): () => void {
  const uses = USES.get(store) ?? new Map<string, NameUse>();
  for (const policy of policies.values()) {
    const other = uses.get(policy.name)?.policy;
    if (other === undefined || samePolicy(other, policy)) continue;
    throw policyConflict(policy.name, `${describePolicy(other)}; now ${describePolicy(policy)}`);
  }
  USES.set(store, uses);
  for (const policy of policies.values()) {
    const use = uses.get(policy.name) ?? { policy, limiters: 0 };
    use.limiters++;
    uses.set(policy.name, use);
  }
  return () => {
    for (const name of policies.keys()) {
      const use = uses.get(name);
      if (use !== undefined && --use.limiters === 0) uses.delete(name);
    }
  };
}

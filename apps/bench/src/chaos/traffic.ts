import type { Keys, PolicyOptions } from '@rl/core';
import type { Random } from '../fleet-simulation/random.js';

/** The policies of every replica. */
export const POLICIES: {
  readonly hot: PolicyOptions;
  readonly cool: PolicyOptions;
  readonly leased: PolicyOptions;
  readonly ledger: PolicyOptions;
} = {
  hot: { limit: 200, window: '1s' },
  cool: { limit: 100, window: '1s' },
  leased: { limit: 1000, window: '1s', lease: true },
  // Nothing to speak of comes back during a run: what is missing of it is what was charged.
  ledger: { limit: 200_000, window: '365d' },
};
export type PolicyName = keyof typeof POLICIES;

/** The policy `hot`, as accounts of it need it: a full bucket holds the limit. */
export const HOT: { readonly burst: number; readonly perMs: number; readonly windowMs: number } = {
  burst: 200,
  perMs: 0.2,
  windowMs: 1000,
};

/**
 * `hot`: one client, whom all replicas serve and who asks for several times the quota. `cool`: one
 * of many who stay below theirs. `leased`: one client of a leased policy, below the quota. `both`:
 * one call under the two policies of the latter. `ledger`: one client, all of whose permits are
 * counted.
 */
export type CallKind = 'hot' | 'cool' | 'leased' | 'both' | 'ledger';

/** Clients of the policy `cool`. */
const CLIENTS = 50;

/** The next call: of five, two are `hot`. */
export function nextCall(random: Random): {
  readonly kind: CallKind;
  readonly keys: Keys<PolicyName>;
} {
  const dice = random.next();
  if (dice < 0.4) return { kind: 'hot', keys: { hot: 'everybody' } };
  if (dice < 0.6) return { kind: 'leased', keys: { leased: 'everybody' } };
  if (dice < 0.7) return { kind: 'ledger', keys: { ledger: 'everybody' } };
  const cool = `client-${Math.floor(random.between(0, CLIENTS))}`;
  if (dice < 0.75) return { kind: 'both', keys: { cool, leased: 'everybody' } };
  return { kind: 'cool', keys: { cool } };
}

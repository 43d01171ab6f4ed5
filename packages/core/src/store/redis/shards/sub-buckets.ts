import type { Decision } from '../../../decision/decision.js';
import type { Claim, Grant } from '../../store.js';
import type { ShardPolicy } from './shares.js';

/**
 * What sharded buckets ask of the store their sub-buckets are in: what a store does, each joined to a
 * batch at once, also while the store closes.
 */
export interface SubBuckets {
  consume(policy: ShardPolicy, key: string, cost: number): Promise<Decision>;
  /** Answers each cost by itself, as `consume` would, and takes nothing. */
  look(policy: ShardPolicy, key: string, costs: readonly number[]): Promise<readonly Decision[]>;
  refund(
    policy: ShardPolicy,
    key: string,
    permits: number,
    takenAtMs: number | undefined,
  ): Promise<Decision>;
  overcharge(policy: ShardPolicy, key: string, permits: number): Promise<Decision>;
  reset(policy: ShardPolicy, key: string): Promise<unknown>;
  claim(claim: Claim): Promise<Grant | undefined>;
}

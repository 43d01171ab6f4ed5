import type { Policy } from '../../../policy/policy.js';

/** Which of how many sub-buckets. */
export interface Shard {
  /** From 0 on. */
  readonly index: number;
  readonly count: number;
}

/** The policy of one sub-bucket: its share of the whole's. It enforces also where the whole is a shadow. */
export interface ShardPolicy extends Policy {
  readonly shard: Shard;
}

/** A policy whose bucket is kept in sub-buckets. */
export type ShardedPolicy = Policy & { readonly shards: number };

export function isSharded(policy: Policy): policy is ShardedPolicy {
  return policy.shards !== undefined;
}

/** Undefined for a policy that is not of a sub-bucket. */
export function shardOf(policy: Policy): Shard | undefined {
  return (policy as Partial<ShardPolicy>).shard;
}

/**
 * Share `index` of `count` of `whole`, an integer of at least 0. The shares add up to it, and differ
 * by 1 at most. `floor(whole × (index + 1) ÷ count) − floor(whole × index ÷ count)`, in steps that
 * stay exact where whole × count is above 2^53.
 */
export function shareOf(whole: number, index: number, count: number): number {
  const each = Math.floor(whole / count);
  const rest = whole - each * count;
  return each + Math.floor((rest * (index + 1)) / count) - Math.floor((rest * index) / count);
}

/**
 * Splits `permits` in proportion to `weights`: integers of at least 0 that add up to them, none above
 * its weight, what is over after rounding to the greatest. What is more than all weights together is
 * left out.
 */
export function splitBy(permits: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((a, b) => a + b, 0);
  if (sum === 0) return weights.map(() => 0);
  const part = Math.min(1, permits / sum);
  const parts = weights.map((weight) => Math.min(weight, Math.floor(weight * part)));
  let rest = Math.min(permits, sum) - parts.reduce((a, b) => a + b, 0);
  // Rounded down, each lacks less than 1; near 2^53 a product may be some more off, also upwards.
  const order = weights.map((_, i) => i).sort((a, b) => (weights[b] ?? 0) - (weights[a] ?? 0));
  for (const most of [1, Number.POSITIVE_INFINITY]) {
    for (const i of order) {
      const own = parts[i] as number;
      const more = Math.max(-own, Math.min((weights[i] as number) - own, most, rest));
      parts[i] = own + more;
      rest -= more;
    }
  }
  return parts;
}

const PARTS = new WeakMap<Policy, readonly ShardPolicy[]>();

/** The policies of the sub-buckets, in order: the same objects each time. */
export function partsOf(policy: ShardedPolicy): readonly ShardPolicy[] {
  const known = PARTS.get(policy);
  if (known !== undefined) return known;
  const parts = Array.from({ length: policy.shards }, (_, index) => partOf(policy, index));
  PARTS.set(policy, parts);
  return parts;
}

/** No user's policy has a name with a slash in it. */
function partOf(policy: ShardedPolicy, index: number): ShardPolicy {
  const { name, limit, burst, overdraft, lease, shards: count } = policy;
  return Object.freeze({
    ...policy,
    name: `${name}/${index}.${count}`,
    limit: shareOf(limit, index, count),
    burst: shareOf(burst, index, count),
    overdraft: shareOf(overdraft, index, count),
    lease: lease && Object.freeze({ ...lease, share: shareOf(lease.share, index, count) }),
    shadow: false,
    shards: undefined,
    shard: Object.freeze({ index, count }),
  });
}

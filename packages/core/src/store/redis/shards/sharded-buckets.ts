import type { Decision } from '../../../decision/decision.js';
import { boundPartitionKey } from '../../../key/partition-key.js';
import type { Clock } from '../../../time/clock.js';
import type { Claim, Grant } from '../../store.js';
import { BucketsInUse } from './buckets-in-use.js';
import { ShardedBucket } from './sharded-bucket.js';
import { claimOf } from './sharded-claim.js';
import type { ShardedPolicy } from './shares.js';
import { Spread } from './spread.js';
import type { SubBuckets } from './sub-buckets.js';
import { readTaken } from './taken-from.js';

/**
 * Buckets that are kept in several sub-buckets each, in different slots of a Redis Cluster, so that no
 * primary has all the work of one hot key. Each sub-bucket has its share of limit, burst and overdraft,
 * in integers that add up: what they admit together stays within what the policy admits.
 *
 * Answers as a store does, of the whole bucket. It keeps what it last heard of each sub-bucket; of
 * `remaining` and the waits of a decision that is a sum of such answers, each true at its time.
 */
export class ShardedBuckets {
  readonly #store: SubBuckets;
  readonly #clock: Clock;
  readonly #buckets = new BucketsInUse<ShardedBucket>();

  constructor(store: SubBuckets, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  consume(policy: ShardedPolicy, key: string, cost: number): Promise<Decision> {
    return this.#of(policy, key).consume(cost);
  }

  /** What `consume` would answer; takes nothing. */
  look(policy: ShardedPolicy, key: string, cost: number): Promise<Decision> {
    return this.#of(policy, key).look(cost);
  }

  /** @param takenAtMs `decidedAtMs` of the decision that took them */
  refund(
    policy: ShardedPolicy,
    key: string,
    permits: number,
    takenAtMs: number | undefined,
  ): Promise<Decision> {
    const { atMs, index } = readTaken(takenAtMs, policy.shards);
    return this.#of(policy, key).refund(permits, atMs, index);
  }

  overcharge(policy: ShardedPolicy, key: string, permits: number): Promise<Decision> {
    return this.#of(policy, key).overcharge(permits);
  }

  reset(policy: ShardedPolicy, key: string): Promise<void> {
    return this.#of(policy, key).reset();
  }

  claim(claim: Claim, policy: ShardedPolicy): Promise<Grant | undefined> {
    const key = boundPartitionKey(claim.key);
    return claimOf(this.#of(policy, claim.key), key, claim, this.#store, this.#clock);
  }

  /** A long key stands for itself as its digest: so replicas agree, and none keeps it. */
  #of(policy: ShardedPolicy, key: string): ShardedBucket {
    const bound = boundPartitionKey(key);
    return this.#buckets.of(policy, bound, (own) => {
      const spread = new Spread(policy, this.#clock.nowMs());
      return new ShardedBucket(spread, own, this.#store, this.#clock);
    });
  }
}

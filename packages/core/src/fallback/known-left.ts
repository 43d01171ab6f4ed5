import type { Decision } from '../decision/decision.js';
import { ownText } from '../key/own-text.js';
import { boundPartitionKey } from '../key/partition-key.js';
import type { Policy } from '../policy/policy.js';

/** Most buckets of one generation. */
const MAX_BUCKETS = 50_000;

/** What a store said of a bucket. */
export interface Left {
  remaining: number;
  resetAfterMs: number;
  /** When it was heard, by this replica's clock. */
  atMs: number;
}

/** By policy name and algorithm, and partition key. */
type Generation = Map<string, Map<string, Left>>;

/**
 * What the store said last of each bucket, kept until somebody asks: it is written with every answer,
 * and read when the store is gone.
 *
 * Two generations: where the younger has become full it becomes the older one, and what that held is
 * forgotten. So it is bounded, and the latest stay.
 */
export class KnownLeft {
  #young: Generation = new Map();
  #old: Generation = new Map();
  #size = 0;
  /** Of the latest note: most are of the same policy as the one before. */
  #lastPolicy: Policy | undefined;
  #lastBuckets: Map<string, Left> = new Map();

  note(policy: Policy, key: string, { remaining, resetAfterMs }: Decision, nowMs: number): void {
    const buckets = policy === this.#lastPolicy ? this.#lastBuckets : this.#bucketsOf(policy);
    const bound = boundPartitionKey(key);
    const known = buckets.get(bound);
    if (known !== undefined) {
      known.remaining = remaining;
      known.resetAfterMs = resetAfterMs;
      known.atMs = nowMs;
      return;
    }
    buckets.set(ownText(bound), { remaining, resetAfterMs, atMs: nowMs });
    if (++this.#size >= MAX_BUCKETS) this.#age();
  }

  /** What is known of a bucket, which is forgotten with that. */
  take(policy: Policy, key: string): Left | undefined {
    const name = nameOf(policy);
    const bound = boundPartitionKey(key);
    const young = this.#young.get(name);
    const old = this.#old.get(name);
    const found = young?.get(bound) ?? old?.get(bound);
    if (young?.delete(bound)) this.#size--;
    old?.delete(bound);
    return found;
  }

  #bucketsOf(policy: Policy): Map<string, Left> {
    const name = nameOf(policy);
    const buckets = this.#young.get(name) ?? new Map<string, Left>();
    this.#young.set(name, buckets);
    this.#lastPolicy = policy;
    this.#lastBuckets = buckets;
    return buckets;
  }

  #age(): void {
    this.#old = this.#young;
    this.#young = new Map();
    this.#size = 0;
    this.#lastPolicy = undefined;
  }
}

function nameOf({ name, algorithm }: Policy): string {
  return `${name}:${algorithm}`;
}

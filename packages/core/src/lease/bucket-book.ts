import { ownText } from '../key/own-text.js';
import type { LeaseTerms } from '../policy/lease-terms.js';
import type { Policy } from '../policy/policy.js';
import { Ring } from '../store/ring.js';
import { LeasedBucket } from './leased-bucket.js';

/** Most buckets that are kept; and how many are looked at to find one to forget. */
const MAX_BUCKETS = 100_000;
const SAMPLE = 8;

/**
 * The leased buckets that this replica was asked for lately, at most 100,000 of them. Where there
 * are more, one that holds nothing gives way, of the policy that has most; where none of the next 8 in
 * a round is such a one, the new bucket is not kept, and the store decides its calls.
 */
export class BucketBook {
  readonly #byName = new Map<string, Ring<LeasedBucket>>();
  #size = 0;
  /** Of the latest look: most are of the same policy as the one before. */
  #lastName = '';
  #lastRing: Ring<LeasedBucket> | undefined;

  get size(): number {
    return this.#size;
  }

  find(policy: Policy, key: string): LeasedBucket | undefined {
    return this.#ringOf(policy)?.entries.get(key);
  }

  /**
   * A new bucket, in the place of none; undefined where there is no room for it.
   * @param key of bounded length
   * @param answerWithinMs as of `StoreWatch`
   */
  add(
    policy: Policy,
    key: string,
    nowMs: number,
    answerWithinMs: number,
  ): LeasedBucket | undefined {
    const ring = this.#ringOf(policy) ?? new Ring<LeasedBucket>();
    if (this.#size >= MAX_BUCKETS && !this.#makeRoom()) return undefined;
    this.#byName.set(policy.name, ring);
    this.#lastRing = ring;
    const bucket = new LeasedBucket(policy, ownText(key), nowMs, answerWithinMs);
    ring.entries.set(bucket.key, bucket);
    this.#size++;
    return bucket;
  }

  *all(): Iterable<LeasedBucket> {
    for (const ring of this.#byName.values()) yield* ring.entries.values();
  }

  /**
   * Looks at the next `count` buckets of each policy, and forgets those that hold nothing and were
   * not asked for lately.
   * @returns those that hold permits whose time is over, and those with calls that wait
   */
  sweep(count: number, nowMs: number): LeasedBucket[] {
    const found: LeasedBucket[] = [];
    for (const ring of this.#byName.values()) {
      for (let i = Math.min(count, ring.entries.size); i > 0; i--) {
        const bucket = ring.next();
        if (bucket === undefined) break;
        const { ttlMs } = bucket.policy.lease as LeaseTerms;
        if (bucket.isWaiting || bucket.leases.isOver(nowMs)) found.push(bucket);
        else if (bucket.isIdle && nowMs - bucket.usedAtMs > ttlMs) this.#delete(ring, bucket);
      }
    }
    return found;
  }

  clear(): void {
    this.#byName.clear();
    this.#lastRing = undefined;
    this.#size = 0;
  }

  #ringOf({ name }: Policy): Ring<LeasedBucket> | undefined {
    if (name !== this.#lastName || this.#lastRing === undefined) {
      this.#lastName = name;
      this.#lastRing = this.#byName.get(name);
    }
    return this.#lastRing;
  }

  /** In the ring that has most. */
  #makeRoom(): boolean {
    const rings = [...this.#byName.values()];
    const ring = rings.reduce((a, b) => (b.entries.size > a.entries.size ? b : a));
    for (let i = Math.min(SAMPLE, ring.entries.size); i > 0; i--) {
      const bucket = ring.next();
      if (bucket === undefined) break;
      if (bucket.isIdle) {
        this.#delete(ring, bucket);
        return true;
      }
    }
    return false;
  }

  #delete(ring: Ring<LeasedBucket>, { key }: LeasedBucket): void {
    ring.entries.delete(key);
    this.#size--;
  }
}

import { levelAt, type TokenBucketState } from '../../algorithms/token-bucket.js';
import type { Policy } from '../../policy/policy.js';

/** The state of one bucket, changed in place. Behind `fullAtMs` it is the same as none. */
export interface Bucket extends TokenBucketState {
  readonly key: string;
  fullAtMs: number;
}

/** How many buckets are looked at to find one to forget. */
const SAMPLE = 8;

/**
 * The buckets of one policy, at most `maxKeys` of them. A bucket that is full again is the same as
 * none, whether `sweep` has already forgotten it or not.
 *
 * A new bucket in a full table takes the place of another: of the next 8 in a round of all, the
 * one nearest to full, since forgetting it gives the least away. So a flood of new keys pushes out
 * its own buckets, and a client that is at its limit stays there.
 */
export class BucketTable {
  readonly #buckets = new Map<string, Bucket>();
  readonly #maxKeys: number;
  #round: Iterator<Bucket> = this.#buckets.values();
  /** Buckets forgotten before they were full. */
  evicted = 0;

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** The bucket of `key`, full or not; undefined where none is held. */
  get(key: string): Bucket | undefined {
    return this.#buckets.get(key);
  }

  /**
   * Writes the bucket of `key`, or forgets it where it is full.
   *
   * @param found what `get` has just given for this key
   * @param fullAfterMs the time from `nowMs` until it is full
   */
  put(
    policy: Policy,
    key: string,
    found: Bucket | undefined,
    level: number,
    nowMs: number,
    fullAfterMs: number,
  ): void {
    if (fullAfterMs === 0) {
      this.#buckets.delete(key);
    } else if (found === undefined) {
      if (this.#buckets.size >= this.#maxKeys) this.#makeRoom(policy, nowMs);
      const { windowMs } = policy;
      this.#buckets.set(key, { key, level, atMs: nowMs, windowMs, fullAtMs: nowMs + fullAfterMs });
    } else {
      found.level = level;
      found.atMs = nowMs;
      found.windowMs = policy.windowMs;
      found.fullAtMs = nowMs + fullAfterMs;
    }
  }

  delete(key: string): void {
    this.#buckets.delete(key);
  }

  clear(): void {
    this.#buckets.clear();
  }

  /** Forgets those that are full among the next `count` buckets of the round. */
  sweep(nowMs: number, count: number): void {
    for (let i = Math.min(count, this.#buckets.size); i > 0; i--) {
      const bucket = this.#next();
      if (bucket === undefined) return;
      if (isFull(bucket, nowMs)) this.#buckets.delete(bucket.key);
    }
  }

  #makeRoom(policy: Policy, nowMs: number): void {
    let fullest: Bucket | undefined;
    let most = -1;
    for (let i = Math.min(SAMPLE, this.#buckets.size); i > 0; i--) {
      const bucket = this.#next();
      if (bucket === undefined) break;
      if (isFull(bucket, nowMs)) {
        this.#buckets.delete(bucket.key);
        return;
      }
      const level = levelAt(policy, bucket, nowMs);
      if (level > most) {
        most = level;
        fullest = bucket;
      }
    }
    if (fullest === undefined) return;
    this.#buckets.delete(fullest.key);
    this.evicted++;
  }

  /** Goes round all buckets in the order they came; undefined only where there are none. */
  #next(): Bucket | undefined {
    let step = this.#round.next();
    if (step.done) {
      this.#round = this.#buckets.values();
      step = this.#round.next();
    }
    return step.done ? undefined : step.value;
  }
}

/** As a key in Redis: it is there until the instant of its expiry has passed. */
export function isFull(bucket: Bucket, nowMs: number): boolean {
  return nowMs > bucket.fullAtMs;
}

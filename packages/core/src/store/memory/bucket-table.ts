import { ownText } from '../../key/own-text.js';
import { Ring } from '../ring.js';

/** One bucket. Behind `idleAtMs` it is the same as none. */
export interface Bucket {
  readonly key: string;
  /** What its algorithm keeps. */
  state: object;
  idleAtMs: number;
  /** True where less than half of its burst remained when it was written. */
  spent: boolean;
}

/** How many buckets are looked at to find one to forget. */
const SAMPLE = 8;

/**
 * The buckets of one policy, at most `maxKeys` of them. A bucket that is full again is the same as
 * none, whether `sweep` has already forgotten it or not.
 *
 * A new bucket in a full table takes the place of another: one of those that are more than half
 * full while there are any, and of the next 8 of them in a round the one that is full soonest,
 * since forgetting it gives the least away. So a flood of new keys pushes out its own buckets, and
 * clients that are at their limit stay there, however many they are.
 */
export class BucketTable {
  /** By whether they are spent. */
  readonly #fresh = new Ring<Bucket>();
  readonly #spent = new Ring<Bucket>();
  readonly #maxKeys: number;
  /** Buckets forgotten before they were full. */
  evicted = 0;

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  get size(): number {
    return this.#fresh.entries.size + this.#spent.entries.size;
  }

  /** The bucket of `key`; undefined where there is none, or it was full and is forgotten now. */
  get(key: string, nowMs: number): Bucket | undefined {
    const bucket = this.#fresh.entries.get(key) ?? this.#spent.entries.get(key);
    if (bucket === undefined || !isIdle(bucket, nowMs)) return bucket;
    this.delete(key);
    return undefined;
  }

  /**
   * Writes the bucket of `key`, or forgets it where it is full.
   *
   * @param found what `get` has just given for this key
   * @param idleAfterMs the time from `nowMs` until it is full
   * @param spent whether less than half of the burst remains
   */
  put(
    key: string,
    found: Bucket | undefined,
    state: object,
    nowMs: number,
    idleAfterMs: number,
    spent: boolean,
  ): void {
    if (found === undefined) {
      if (idleAfterMs === 0) return;
      if (this.size >= this.#maxKeys) this.#makeRoom(nowMs);
      const own = ownText(key);
      const bucket = { key: own, state, idleAtMs: nowMs + idleAfterMs, spent };
      this.#ringOf(bucket).entries.set(own, bucket);
    } else if (idleAfterMs === 0) {
      this.delete(key);
    } else {
      found.state = state;
      found.idleAtMs = nowMs + idleAfterMs;
      if (found.spent !== spent) this.move(found, spent);
    }
  }

  /** Notes that a bucket has become spent, or is so no more. */
  move(bucket: Bucket, spent: boolean): void {
    this.#ringOf(bucket).entries.delete(bucket.key);
    bucket.spent = spent;
    this.#ringOf(bucket).entries.set(bucket.key, bucket);
  }

  delete(key: string): void {
    if (!this.#fresh.entries.delete(key)) this.#spent.entries.delete(key);
  }

  /** Forgets those that are full among the next `count` buckets of each kind. */
  sweep(nowMs: number, count: number): void {
    for (const ring of [this.#fresh, this.#spent]) {
      for (let i = Math.min(count, ring.entries.size); i > 0; i--) {
        const bucket = ring.next();
        if (bucket !== undefined && isIdle(bucket, nowMs)) ring.entries.delete(bucket.key);
      }
    }
  }

  #ringOf({ spent }: Bucket): Ring<Bucket> {
    return spent ? this.#spent : this.#fresh;
  }

  #makeRoom(nowMs: number): void {
    const ring = this.#fresh.entries.size > 0 ? this.#fresh : this.#spent;
    let soonest: Bucket | undefined;
    for (let i = Math.min(SAMPLE, ring.entries.size); i > 0; i--) {
      const bucket = ring.next();
      if (bucket === undefined) break;
      if (soonest === undefined || bucket.idleAtMs < soonest.idleAtMs) soonest = bucket;
      if (isIdle(bucket, nowMs)) break;
    }
    if (soonest === undefined) return;
    ring.entries.delete(soonest.key);
    if (!isIdle(soonest, nowMs)) this.evicted++;
  }
}

/** As a key in Redis: it is there until the instant of its expiry has passed. */
function isIdle(bucket: Bucket, nowMs: number): boolean {
  return nowMs > bucket.idleAtMs;
}

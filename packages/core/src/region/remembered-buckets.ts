import { bucketId } from '../fallback/bucket-id.js';
import { ownText } from '../key/own-text.js';
import { MAX_TEXT } from '../key/partition-key.js';
import type { Policy } from '../policy/policy.js';

/** Most buckets that are remembered. Where there are more, the one that came first is forgotten. */
const MAX_BUCKETS = 10_000;

/** A bucket that is to be looked at later. */
interface Remembered {
  readonly policy: Policy;
  readonly key: string;
  readonly dueAtMs: number;
}

/**
 * Buckets that this replica is to look at again. It is a help, not a duty: what is forgotten here is
 * done by whoever asks for the bucket next, or gets over by itself.
 */
export class RememberedBuckets {
  readonly #byId = new Map<string, Remembered>();

  /** A key that is longer than what is kept as it is in bucket keys is not remembered. */
  add(policy: Policy, key: string, dueAtMs: number): void {
    if (key.length > MAX_TEXT) return;
    const own = ownText(key);
    const id = bucketId(policy, own);
    this.#byId.delete(id);
    this.#byId.set(id, { policy, key: own, dueAtMs });
    if (this.#byId.size <= MAX_BUCKETS) return;
    const [first] = this.#byId.keys();
    this.#byId.delete(first as string);
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Takes out up to `count` that are due. They came about in the order in which they are due. */
  take(nowMs: number, count: number): Remembered[] {
    const due: Remembered[] = [];
    for (const [id, remembered] of this.#byId) {
      if (due.length >= count || remembered.dueAtMs > nowMs) break;
      due.push(remembered);
      this.#byId.delete(id);
    }
    return due;
  }
}

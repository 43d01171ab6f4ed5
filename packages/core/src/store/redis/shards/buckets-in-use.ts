import { ownText } from '../../../key/own-text.js';
import type { Policy } from '../../../policy/policy.js';

/** Most buckets of one generation. */
const MAX_BUCKETS = 5000;

type Generation<T> = Map<Policy, Map<string, T>>;

/**
 * What is known of buckets that were asked for lately, by policy and partition key.
 *
 * Two generations: where the younger has become full it becomes the older one, and what that held is
 * forgotten. So there are at most 10,000, and those in use stay; one that is forgotten is found out
 * about once more.
 */
export class BucketsInUse<T> {
  #young: Generation<T> = new Map();
  #old: Generation<T> = new Map();
  #size = 0;

  /** Those that are kept. */
  get size(): number {
    let size = this.#size;
    for (const ofPolicy of this.#old.values()) size += ofPolicy.size;
    return size;
  }

  /**
   * @param key of bounded length
   * @param make gives a new one, with a copy of the key to keep
   */
  of(policy: Policy, key: string, make: (key: string) => T): T {
    const known = this.#young.get(policy)?.get(key);
    if (known !== undefined) return known;
    const own = ownText(key);
    const ofOld = this.#old.get(policy);
    const found = ofOld?.get(key) ?? make(own);
    ofOld?.delete(key);
    this.#keep(policy, own, found);
    return found;
  }

  #keep(policy: Policy, key: string, value: T): void {
    if (this.#size >= MAX_BUCKETS) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#size = 0;
    }
    const ofPolicy = this.#young.get(policy) ?? new Map<string, T>();
    this.#young.set(policy, ofPolicy.set(key, value));
    this.#size++;
  }
}

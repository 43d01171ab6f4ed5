import { ownText } from '../key/own-text.js';
import type { Policy } from '../policy/policy.js';
import type { Charge } from '../store/store.js';
import { bucketId } from './bucket-id.js';

/** Most buckets that permits are owed to, and most characters of their keys. */
const MAX_BUCKETS = 100_000;
const MAX_CHARACTERS = 20_000_000;

/**
 * Permits by bucket that were admitted here and that the store does not know of. Where there is no
 * more room, the bucket that has waited longest is forgotten.
 */
export class Owed {
  readonly #charges = new Map<string, Charge>();
  #characters = 0;
  /** Permits that were forgotten for want of room. It only rises. */
  forgotten = 0;

  /** Buckets that something is owed to. */
  get size(): number {
    return this.#charges.size;
  }

  has(policy: Policy, key: string): boolean {
    return this.#charges.size > 0 && this.#charges.has(bucketId(policy, key));
  }

  add({ policy, key, cost }: Charge): void {
    if (cost === 0) return;
    const id = bucketId(policy, key);
    const before = this.#charges.get(id);
    if (before !== undefined) {
      this.#charges.set(id, { policy, key: before.key, cost: before.cost + cost });
      return;
    }
    if (key.length > MAX_CHARACTERS) {
      this.forgotten += cost;
      return;
    }
    this.#characters += key.length;
    const own = ownText(key);
    // The text of an id refers to the key it was made of.
    this.#charges.set(bucketId(policy, own), { policy, key: own, cost });
    while (this.#charges.size > MAX_BUCKETS || this.#characters > MAX_CHARACTERS) {
      this.#forgetFirst();
    }
  }

  /** Takes off up to `cost` permits. @returns how many of them were not owed */
  take({ policy, key, cost }: Charge): number {
    const before = this.#charges.get(bucketId(policy, key));
    if (before === undefined) return cost;
    if (before.cost > cost) {
      const left = { ...before, cost: before.cost - cost };
      this.#charges.set(bucketId(policy, key), left);
      return 0;
    }
    this.clear(policy, key);
    return cost - before.cost;
  }

  /** @returns what was owed to the bucket */
  clear(policy: Policy, key: string): number {
    const id = bucketId(policy, key);
    const before = this.#charges.get(id);
    if (before === undefined) return 0;
    this.#charges.delete(id);
    this.#characters -= before.key.length;
    return before.cost;
  }

  /** Up to `count` buckets that something is owed to, the first that came first. */
  first(count: number): Charge[] {
    const found: Charge[] = [];
    for (const charge of this.#charges.values()) {
      if (found.length >= count) break;
      found.push(charge);
    }
    return found;
  }

  #forgetFirst(): void {
    const [first] = this.first(1) as [Charge];
    this.forgotten += this.clear(first.policy, first.key);
  }
}

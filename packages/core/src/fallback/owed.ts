import { ownText } from '../key/own-text.js';
import type { Policy } from '../policy/policy.js';
import type { Charge } from '../store/store.js';
import { bucketId } from './bucket-id.js';
import { PlaceIndex } from './place-index.js';

type PlaceOf = (key: string) => string;

/** Most buckets that permits are owed to, and most characters of their keys. */
const MAX_BUCKETS = 100_000;
const MAX_CHARACTERS = 20_000_000;

/**
 * Permits by bucket that were admitted here and that the store does not know of. Where there is no
 * more room, the bucket that has waited longest is forgotten.
 */
export class Owed {
  readonly #charges = new Map<string, Charge>();
  readonly #placeOf: PlaceOf | undefined;
  /** Where the store has places. */
  readonly #index = new PlaceIndex();
  #characters = 0;
  /** Permits that were forgotten for want of room. It only rises. */
  forgotten = 0;

  /** @param placeOf as of `Store.placeOf` */
  constructor(placeOf?: PlaceOf) {
    this.#placeOf = placeOf;
  }

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
    const ownId = bucketId(policy, own);
    this.#charges.set(ownId, { policy, key: own, cost });
    if (this.#placeOf !== undefined) this.#index.file(ownId, this.#placeOf(own));
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
    if (this.#placeOf !== undefined) this.#index.drop(id);
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

  /** As `size`, of the buckets of one place; of all where the store is one. It may count some that were. */
  sizeAt(place: string | undefined): number {
    return place === undefined ? this.size : this.#index.at(place).size;
  }

  /**
   * As `first`, of the buckets of one place; of all where the store is one.
   * @param elsewhere told of a bucket that was at this place and is at another one
   */
  firstAt(place: string | undefined, count: number, elsewhere: (key: string) => void): Charge[] {
    if (place === undefined) return this.first(count);
    const found: Charge[] = [];
    for (const id of this.#index.at(place)) {
      if (found.length >= count) break;
      const charge = this.#charges.get(id) as Charge;
      const now = (this.#placeOf as PlaceOf)(charge.key);
      if (now === place) {
        found.push(charge);
      } else {
        this.#index.file(id, now);
        elsewhere(charge.key);
      }
    }
    return found;
  }

  /** One place is there for what another was. */
  move(from: string, to: string): void {
    this.#index.move(from, to);
  }

  #forgetFirst(): void {
    const [first] = this.first(1) as [Charge];
    this.forgotten += this.clear(first.policy, first.key);
  }
}

import { MemoryStore } from '../store/memory/memory-store.js';
import type { Store } from '../store/store.js';
import type { Clock } from '../time/clock.js';
import { KnownLeft } from './known-left.js';
import { Owed } from './owed.js';
import { Payments } from './payments.js';

/**
 * What a replica keeps of a store's buckets, to decide without it: what is spent of its shares, what
 * the store said of them, and what it does not know of. Limiters of one store have it together, as
 * they have the buckets.
 */
export class LocalBuckets {
  readonly shares: MemoryStore;
  readonly left: KnownLeft = new KnownLeft();
  readonly owed: Owed;
  readonly payments: Payments = new Payments();
  #pastMs: number | undefined;

  constructor(store: Store, clock: Clock) {
    this.owed = new Owed(store.placeOf?.bind(store));
    this.shares = new MemoryStore({ clock: { nowMs: () => this.#pastMs ?? clock.nowMs() } });
  }

  /** Changes the shares as if it were `atMs`, which is no later than now. */
  inThePast(atMs: number, change: () => void): void {
    this.#pastMs = atMs;
    try {
      change();
    } finally {
      this.#pastMs = undefined;
    }
  }
}

const OF_STORES = new WeakMap<Store, LocalBuckets>();

/** A store's local buckets, made when they are first asked for. */
export function localBucketsOf(store: Store, clock: Clock): LocalBuckets {
  const known = OF_STORES.get(store);
  if (known !== undefined) return known;
  const buckets = new LocalBuckets(store, clock);
  OF_STORES.set(store, buckets);
  return buckets;
}

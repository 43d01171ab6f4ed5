import type { Decision } from '../decision/decision.js';
import type { StoreWatcher } from '../metrics/store-watcher.js';
import type { Charge, Store } from '../store/store.js';
import { later } from '../time/background.js';
import type { Clock } from '../time/clock.js';
import type { StoreState } from './breaker.js';
import type { Corrections } from './corrections.js';
import type { Deadlines } from './deadlines.js';
import type { StoreEvent } from './events.js';
import type { LocalDecisions } from './local-decisions.js';
import { Reconciler } from './reconciler.js';
import { StoreLink } from './store-link.js';

/** How soon the store is charged for what was admitted because of a failure that did not lose it. */
const PAY_AFTER_MS = 50;

/** What the places of a store have in common. */
export interface PlaceOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  /** As of `StoreLinkOptions`. */
  readonly returnMs: number;
  readonly local: LocalDecisions;
  readonly corrections: Corrections;
  readonly watcher: StoreWatcher;
  tell(event: StoreEvent): void;
  /** As of `StoreLinkOptions.isThere`. */
  isThere(place: Place, key: string): boolean;
  /** As of `Part.elsewhere`. */
  elsewhere(key: string): void;
}

/**
 * A part of the store that can be lost, found and paid by itself: the whole of it, or such as a node
 * of a Redis Cluster.
 */
export class Place {
  /** Undefined where the store is one. It changes where what was lost here is elsewhere now. */
  name: string | undefined;
  readonly link: StoreLink;
  /** For `Places` alone: whether it was asked for since that was last looked at. */
  isUsed = true;
  readonly #store: Store;
  readonly #local: LocalDecisions;
  readonly #reconciler: Reconciler;
  readonly #tell: (event: StoreEvent) => void;
  /** Where it was lost, while it is not up here. */
  #insteadOf: string | undefined;
  /** What it was charged with and is not told yet. */
  #paid = { buckets: 0, permits: 0 };
  #payTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(name: string | undefined, options: PlaceOptions) {
    const { store, clock, deadlines, returnMs, local, corrections, watcher } = options;
    this.name = name;
    this.#store = store;
    this.#local = local;
    this.#tell = options.tell;
    this.#reconciler = new Reconciler(
      local,
      (charge, isWatched) => this.#pay(charge, isWatched),
      (charge, takenAtMs) => corrections.make(charge, takenAtMs),
      (buckets, permits) => this.#reconciled(buckets, permits),
      { name: () => this.name, elsewhere: options.elsewhere },
    );
    this.link = new StoreLink({
      store,
      clock,
      deadlines,
      returnMs,
      watcher,
      tell: (event) => this.#tell(this.#here(event)),
      isThere: (key) => options.isThere(this, key),
      onFound: () => {
        corrections.makeAll();
        this.#reconciler.giveUp();
        void this.#reconciler.payAll();
      },
      mayReturn: () => !this.#reconciler.isRunning,
      onBack: () => {
        this.#insteadOf = undefined;
        this.#reconciled(0, 0);
        void this.#reconciler.payAll();
      },
    });
  }

  get state(): StoreState {
    return this.link.state;
  }

  /** True where nothing is lost with it, as long as nobody asks for it. */
  get isIdle(): boolean {
    const { owed } = this.#local;
    return this.state === 'up' && this.#reconciler.isIdle && owed.sizeAt(this.name) === 0;
  }

  /** True where other places have a part in one of these buckets, too: what fails may be theirs. */
  shares(...charges: readonly Pick<Charge, 'policy'>[]): boolean {
    return this.name !== undefined && charges.some(({ policy }) => policy.shards !== undefined);
  }

  /** As of `Reconciler`, and so is the next one. */
  payFor(charges: readonly Charge[]): void {
    this.#reconciler.payFor(charges);
  }

  payAll(): Promise<void> {
    return this.#reconciler.payAll();
  }

  /** A failure need not lose the store: then nothing else has it charged, if nobody asks for the bucket. */
  payLater(): void {
    if (this.#payTimer !== undefined || this.#isClosed || this.state !== 'up') return;
    this.#payTimer = later(this, PAY_AFTER_MS, Place.#payNow);
  }

  /** What was lost here is to be found at another place. */
  moveTo(name: string): void {
    this.#insteadOf ??= this.name;
    if (this.name !== undefined) this.#local.owed.move(this.name, name);
    this.name = name;
    this.link.moved();
  }

  /** What was lost here is another place's part from now on, which may be up. */
  giveWayTo(other: Place): void {
    this.close();
    if (this.name === undefined || other.name === undefined) return;
    this.#local.owed.move(this.name, other.name);
    // What was being paid is not known to have been, as when a place is found.
    this.#reconciler.giveUp();
    other.payLater();
    if (other.state !== 'up') return;
    const { outageMs } = this.link;
    const about = { place: other.name, insteadOf: this.#insteadOf ?? this.name };
    this.#tell({ type: 'store-found', ...about });
    this.#tell({ type: 'store-back', outageMs, ...about });
  }

  /** Asks nothing more by itself. */
  close(): void {
    this.#isClosed = true;
    this.link.close();
    clearTimeout(this.#payTimer);
  }

  /**
   * Charges the store for what was admitted without it.
   * @param isWatched whether its failure, or that it takes too long, says something of the store
   */
  #pay({ policy, key, cost }: Charge, isWatched: boolean): Promise<Decision> {
    const paid = this.#store.overcharge(policy, key, cost);
    const question = { key, ask: () => paid, answered: () => true, failed: () => {} };
    if (isWatched) this.link.ask(question, this.shares({ policy }));
    return paid;
  }

  /** Charges what is owed, as long as the store is up and there is something. */
  static async #payNow(place: Place): Promise<void> {
    place.#payTimer = undefined;
    if (place.state !== 'up' || place.#isClosed) return;
    await place.payAll();
    if (place.#local.owed.sizeAt(place.name) > 0) place.payLater();
  }

  /** While the store is returning each decision is paid for: that is told in sum, when it is back. */
  #reconciled(buckets: number, permits: number): void {
    this.#paid.buckets += buckets;
    this.#paid.permits += permits;
    if (this.state !== 'up' || this.#paid.buckets === 0) return;
    this.#tell(this.#here({ type: 'reconciled', ...this.#paid }));
    this.#paid = { buckets: 0, permits: 0 };
  }

  /** An event, with where it happened. */
  #here(event: StoreEvent): StoreEvent {
    const { name: place } = this;
    if (place === undefined) return event;
    const insteadOf = this.#insteadOf;
    const isFound = event.type === 'store-found' || event.type === 'store-back';
    if (isFound && insteadOf !== undefined && insteadOf !== place) {
      return { ...event, place, insteadOf };
    }
    return { ...event, place } as StoreEvent;
  }
}

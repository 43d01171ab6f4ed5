import type { StoreWatcher } from '../metrics/store-watcher.js';
import type { Charge, Store } from '../store/store.js';
import type { Clock } from '../time/clock.js';
import type { StoreState } from './breaker.js';
import { Corrections, type GiveBack } from './corrections.js';
import { Deadlines } from './deadlines.js';
import type { LocalDecisions } from './local-decisions.js';
import { Place, type PlaceOptions } from './place.js';
import type { StoreLinkOptions } from './store-link.js';

/** How often places that nobody asks for are looked for. */
const TIDY_EVERY_MS = 60_000;

export interface PlacesOptions
  extends Pick<StoreLinkOptions, 'store' | 'clock' | 'returnMs' | 'tell'> {
  readonly deadlineMs: number;
  readonly watcher: StoreWatcher;
  readonly local: LocalDecisions;
  readonly giveBack: GiveBack;
}

/**
 * The parts of a store by partition key: a single one, or as many as it says, each of which is made
 * when it is first asked for and forgotten when it is up and nobody has for a minute or two.
 *
 * Keys of a place that is lost may come to another one, as when a Redis replica is promoted. Where
 * that one is new, it is the lost one under another name: lost until it answers, and not asked before
 * others have found it, too. Where it is known, it is not lost for their sake.
 */
export class Places {
  readonly corrections: Corrections;
  readonly deadlines: Deadlines;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #options: PlaceOptions;
  /** Where the store is one. */
  readonly #only: Place | undefined;
  readonly #one: readonly Place[] = [];
  readonly #byName = new Map<string, Place>();
  #tidiedAtMs: number;
  #isClosed = false;

  constructor({ deadlineMs, giveBack, ...options }: PlacesOptions) {
    const { store, clock } = options;
    this.#store = store;
    this.#clock = clock;
    this.#tidiedAtMs = clock.nowMs();
    this.deadlines = new Deadlines(deadlineMs, clock);
    this.corrections = new Corrections((key) => this.of(key).state === 'lost', giveBack);
    this.#options = {
      ...options,
      deadlines: this.deadlines,
      corrections: this.corrections,
      isThere: (place, key) => this.#isThere(place, key),
      elsewhere: (key) => this.of(key).payLater(),
    };
    if (store.placeOf !== undefined) return;
    this.#only = new Place(undefined, this.#options);
    this.#one = [this.#only];
  }

  /** The place of a partition key at present. */
  of(key: string): Place {
    return this.#only ?? this.#named(this.#placeOf(key));
  }

  /** The places of what a call is charged, each once; the first charge's first. */
  ofAll(charges: readonly Charge[]): readonly Place[] {
    if (this.#only !== undefined) return this.#one;
    if (charges.length === 1) return [this.of((charges[0] as Charge).key)];
    return [...new Set(charges.map(({ key }) => this.of(key)))];
  }

  /** All that are known. */
  all(): readonly Place[] {
    return this.#only === undefined ? [...this.#byName.values()] : this.#one;
  }

  /** How it stands with the one that is worst off. */
  get state(): StoreState {
    const states = this.all().map(({ state }) => state);
    return (['lost', 'returning'] as const).find((state) => states.includes(state)) ?? 'up';
  }

  /** By name. Undefined where the store is one. */
  get states(): Readonly<Record<string, StoreState>> | undefined {
    if (this.#only !== undefined) return undefined;
    this.#tidy();
    return Object.fromEntries([...this.#byName].map(([name, { state }]) => [name, state]));
  }

  close(): void {
    this.#isClosed = true;
    for (const place of this.all()) place.close();
  }

  #placeOf(key: string): string {
    return (this.#store.placeOf as (key: string) => string)(key);
  }

  #named(name: string): Place {
    const place = this.#byName.get(name) ?? this.#new(name);
    place.isUsed = true;
    return place;
  }

  #new(name: string): Place {
    this.#tidy();
    const heir = this.all().find(
      ({ state, link }) => state !== 'up' && this.#placeOf(link.probeKey) === name,
    );
    if (heir !== undefined) return this.#rename(heir, name);
    const place = new Place(name, this.#options);
    if (this.#isClosed) place.close();
    this.#byName.set(name, place);
    return place;
  }

  #rename(place: Place, name: string): Place {
    this.#byName.delete(place.name as string);
    place.moveTo(name);
    this.#byName.set(name, place);
    return place;
  }

  /** Before a lost place is tried with a question about `key`: whether it is still the one to ask. */
  #isThere(place: Place, key: string): boolean {
    if (place === this.#only) return true;
    const name = this.#placeOf(key);
    if (name === place.name) return true;
    const known = this.#byName.get(name);
    if (known === undefined) {
      this.#rename(place, name);
      return true;
    }
    this.#byName.delete(place.name as string);
    place.giveWayTo(known);
    this.corrections.makeAll();
    return false;
  }

  #tidy(): void {
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#tidiedAtMs < TIDY_EVERY_MS) return;
    this.#tidiedAtMs = nowMs;
    for (const [name, place] of this.#byName) {
      if (place.isUsed || !place.isIdle) {
        place.isUsed = false;
        continue;
      }
      this.#byName.delete(name);
      place.close();
    }
  }
}

import type { RateLimitError } from '../errors.js';
import type { StoreWatcher } from '../metrics/store-watcher.js';
import type { Charge } from '../store/store.js';
import { Asked, type AskedBy, timedOut } from './asked.js';
import type { Deadlines } from './deadlines.js';
import type { StoreEvent } from './events.js';
import type { GuardedCall } from './guarded-call.js';
import type { Place } from './place.js';
import { MAX_UNANSWERED } from './store-link.js';

/** A place that a call asks, and its part in the call. */
interface Part {
  readonly place: Place;
  readonly charges: readonly Charge[];
  /** Of its link, when it was asked. */
  readonly round: number;
}

/**
 * Asks calls that several places answer together. A place is heard where it decided a charge. Where a
 * call fails, the place that its error names has failed. Silence names none, nor does every error:
 * then each place is asked a question of its own, and whoever does not answer that has failed. So
 * one that is sound is not lost for its neighbour's sake.
 */
export class Together {
  readonly #deadlines: Deadlines;
  readonly #watcher: StoreWatcher;
  readonly #tell: (event: StoreEvent) => void;
  #unanswered = 0;

  constructor(deadlines: Deadlines, watcher: StoreWatcher, tell: (event: StoreEvent) => void) {
    this.#deadlines = deadlines;
    this.#watcher = watcher;
    this.#tell = tell;
  }

  /** @param placeOf each charge's place */
  ask<Answer>(
    call: GuardedCall<Answer>,
    charges: readonly Charge[],
    placeOf: (charge: Charge) => Place,
  ): void {
    const byPlace = new Map<Place, Charge[]>();
    for (const charge of charges) {
      const place = placeOf(charge);
      byPlace.set(place, [...(byPlace.get(place) ?? []), charge]);
    }
    const parts = [...byPlace].map(([place, own]) => ({
      place,
      charges: own,
      round: place.link.round,
    }));
    const asked = new Asked(this.#askedBy(parts, call), 0, call);
    this.#deadlines.add(asked);
    asked.ask();
  }

  #askedBy<Answer>(parts: readonly Part[], call: GuardedCall<Answer>): AskedBy {
    return {
      heard: () => {
        for (const { place, charges } of parts) {
          const isItsOwn = (charge: Charge) =>
            !place.shares(charge) && call.wasDecidedByStore(charge);
          if (charges.some(isItsOwn)) place.link.heard();
        }
      },
      heardLate: () => void this.#unanswered--,
      notHeard: (error) => this.#notHeard(error, parts),
      timeout: () => {
        this.#unanswered++;
        return timedOut(this.#deadlines.ms);
      },
      took: (durationMs, fault) => this.#watcher.took(durationMs, fault),
    };
  }

  #notHeard(error: RateLimitError, parts: readonly Part[]): void {
    const { fault = 'other', place } = error;
    const named = parts.find((part) => part.place.name === place);
    if (named !== undefined) {
      named.place.link.notHeard(error, named.round, keyOf(named));
      return;
    }
    this.#tell({ type: 'store-failed', fault, error });
    if (this.#unanswered >= MAX_UNANSWERED) lose(parts, error);
    for (const part of parts) part.place.link.doubt(keyOf(part));
  }
}

/** So many wait that memory is at stake: those that fail by themselves are lost, else all. */
function lose(parts: readonly Part[], error: RateLimitError): void {
  const failing = parts.filter(({ place }) => place.link.isFailing);
  for (const { place } of failing.length > 0 ? failing : parts) place.link.lose(error);
}

function keyOf({ charges }: Part): string {
  return (charges[0] as Charge).key;
}

import type { StoreEvent } from '../../src/fallback/events.js';
import type { FallbackOptions } from '../../src/fallback/options.js';
import { PROBE } from '../../src/fallback/probe.js';
import type { PolicyOptions } from '../../src/policy/policy.js';
import { fits } from './answered-store.js';
import { OwedStore, openOn, refused, type SilentReplica } from './silent-replica.js';

/**
 * As `OwedStore`, with places: a key is at the place that its first character names, as long as
 * `moved` does not say where that is instead, for all of it or for a key by itself.
 */
export class PlacedStore extends OwedStore {
  readonly moved: Map<string, string> = new Map();
  #first = 0;

  placeOf(key: string): string {
    // Needs its `this`, as a store of an app's own may.
    const home = key[this.#first] as string;
    return this.moved.get(key) ?? this.moved.get(home) ?? home;
  }
}

export type PlacedReplica = SilentReplica<PlacedStore>;

/** As `openSilent`. `A…` and `B…` are keys at two places. */
export function openPlaced(
  policies: Record<string, PolicyOptions>,
  options?: FallbackOptions,
): PlacedReplica {
  return openOn(new PlacedStore(), policies, options);
}

/** A place refuses questions about a bucket of its own, each asked after the one before. */
export async function losePlace({ limiter, store }: PlacedReplica, place: string): Promise<void> {
  while (limiter.health().places?.[place] !== 'lost') {
    const call = limiter.consume({ p: `${place}-loser` }, { cost: 0 });
    await (await store.checkedAny()).fail(refused());
    await call;
  }
}

/** The next probe of a place is answered, when it is due; those of other places get no answer. */
export async function findPlace(replica: PlacedReplica, place: string): Promise<void> {
  const { store, time } = replica;
  for (let ms = 0; ms < 300; ms++) {
    await time.pass(1);
    while ((await store.unseen()) > 0) {
      const probe = await store.checkedAny();
      if (probe.asked.policy !== PROBE) throw new Error(`a ${probe.asked.policy.name} is no probe`);
      if (!probe.asked.key.startsWith(place)) continue;
      await probe.answer(fits(PROBE));
      return;
    }
  }
  throw new Error(`no probe of ${place} within 300 ms`);
}

/** The kinds of events that came since the last look, and where they happened. */
export function told({ events }: SilentReplica): (readonly [StoreEvent['type'], unknown?])[] {
  return events
    .splice(0)
    .filter(({ type }) => type !== 'replicas')
    .map((event) => ('place' in event ? [event.type, event.place] : [event.type]));
}

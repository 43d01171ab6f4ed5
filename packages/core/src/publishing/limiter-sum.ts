import { invalidType } from '../errors.js';
import type { StoreState } from '../fallback/breaker.js';
import type { Limiter, StoreHealth } from '../limiter/contract.js';
import type { LimiterMetrics } from '../metrics/limiter-metrics.js';
import { LATENCY_BOUNDS_S } from '../metrics/store-watcher.js';
import {
  countsOfLimiter,
  countsOfStore,
  decisionsOf,
  type LimiterCounts,
  NO_COUNTS,
  type StoreCounts,
} from './counts.js';
import type { MetricsSum } from './metrics-sum.js';
import { RisingSum } from './rising-sum.js';

/** What is published of a limiter. */
export type MeteredLimiter = Pick<Limiter, 'metrics' | 'health'>;

/** One limiter as it is now. */
interface View {
  readonly limiter: MeteredLimiter;
  /** What stands for its store. */
  readonly store: object;
  readonly metrics: LimiterMetrics;
  readonly health: StoreHealth;
}

/**
 * Adds up limiters for whoever publishes their metrics. However often a limiter is added, it counts
 * once, and so does a store that several share. A limiter that has gone stays in what only rises.
 */
export class LimiterSum {
  /** How often each limiter was added, and what stands for its store. */
  readonly #limiters = new Map<MeteredLimiter, { times: number; readonly store: object }>();
  readonly #ofLimiters = new RisingSum<LimiterCounts>(NO_COUNTS);
  readonly #ofStores = new RisingSum<StoreCounts>({});
  #batchBounds: readonly number[] = [];

  /** @returns what takes them away again, once; they are here as long as somebody has added them */
  add(limiters: Iterable<MeteredLimiter>): () => void {
    const added = new Set(limiters);
    for (const limiter of added) this.#add(limiter);
    return () => {
      for (const limiter of added) this.#remove(limiter);
      added.clear();
    };
  }

  has(limiter: object): boolean {
    return this.#limiters.has(limiter as MeteredLimiter);
  }

  get size(): number {
    return this.#limiters.size;
  }

  /** As it is now. Asks nothing of a store. */
  read(): MetricsSum {
    const views = [...this.#limiters.keys()].map((limiter) => this.#look(limiter));
    const byStore = new Map(views.map((view) => [view.store, view]));
    const counts = this.#ofLimiters.read(
      views.map(({ limiter, metrics, health }) => [limiter, countsOfLimiter(metrics, health)]),
    );
    const stores = this.#ofStores.read(
      [...byStore].map(([store, { metrics, health }]) => [store, countsOfStore(metrics, health)]),
    );
    const keys = [...byStore.values()].flatMap(({ metrics }) => metrics.shared?.keys ?? []);
    const { batchSize } = stores;
    return {
      decisions: decisionsOf(counts),
      storeLatency: { bounds: LATENCY_BOUNDS_S, ...counts.latency },
      storeErrors: counts.errors,
      storeStates: statesOf(views),
      replicas:
        views.length === 0 ? undefined : Math.max(...views.map(({ health }) => health.replicas)),
      owed: sum(views, ({ health }) => health.owed),
      forgotten: counts.forgotten,
      unreplicated: stores.unreplicated,
      leases: { ...counts.leases, buckets: sum(views, ({ metrics }) => metrics.leases.buckets) },
      rememberedDenials: sum(views, ({ metrics }) => metrics.rememberedDenials),
      keys: keys.length === 0 ? undefined : sum(keys, (count) => count),
      evicted: stores.evicted,
      batchSize: batchSize && { bounds: this.#batchBounds, ...batchSize },
    };
  }

  #add(limiter: MeteredLimiter): void {
    const known = this.#limiters.get(limiter);
    if (known !== undefined) {
      known.times++;
      return;
    }
    const { shared } = limiter.metrics();
    this.#batchBounds = shared?.batchSize?.bounds ?? this.#batchBounds;
    const store = shared ?? limiter;
    this.#limiters.set(limiter, { times: 1, store });
    this.#ofLimiters.join(limiter);
    this.#ofStores.join(store);
  }

  #remove(limiter: MeteredLimiter): void {
    const known = this.#limiters.get(limiter);
    if (known === undefined || --known.times > 0) return;
    const { store, metrics, health } = this.#look(limiter);
    this.#limiters.delete(limiter);
    this.#ofLimiters.leave(limiter, countsOfLimiter(metrics, health));
    const isShared = [...this.#limiters.values()].some((other) => other.store === store);
    if (!isShared) this.#ofStores.leave(store, countsOfStore(metrics, health));
  }

  #look(limiter: MeteredLimiter): View {
    const store = this.#limiters.get(limiter)?.store ?? limiter;
    return { limiter, store, metrics: limiter.metrics(), health: limiter.health() };
  }
}

/**
 * The limiters that an app hands in, one or a list.
 * @throws TypeError that names the field and shows the value
 */
export function limitersOf(
  limiters: MeteredLimiter | readonly MeteredLimiter[],
): readonly MeteredLimiter[] {
  const list: readonly MeteredLimiter[] = Array.isArray(limiters) ? limiters : [limiters];
  for (const [i, limiter] of list.entries()) {
    const isLimiter =
      typeof limiter?.metrics === 'function' && typeof limiter.health === 'function';
    const field = list === limiters ? `limiters[${i}]` : 'limiters';
    if (!isLimiter) throw invalidType(field, 'a limiter made by createLimiter', limiter);
  }
  return list;
}

/** From the best to the worst. */
const STATES: readonly StoreState[] = ['up', 'returning', 'lost'];

function statesOf(views: readonly View[]): Record<StoreState, number> {
  const stores = new Map<object, Map<string, StoreState>>();
  for (const { store, health } of views) {
    const places = stores.get(store) ?? new Map<string, StoreState>();
    stores.set(store, places);
    const seen = Object.entries(health.places ?? {});
    for (const [place, state] of seen.length > 0 ? seen : [['', health.store] as const]) {
      const known = places.get(place) ?? 'up';
      places.set(place, STATES.indexOf(state) > STATES.indexOf(known) ? state : known);
    }
  }
  const counts = { up: 0, returning: 0, lost: 0 };
  for (const places of stores.values()) for (const state of places.values()) counts[state]++;
  return counts;
}

function sum<Value>(values: readonly Value[], of: (value: Value) => number): number {
  return values.reduce((total, value) => total + of(value), 0);
}

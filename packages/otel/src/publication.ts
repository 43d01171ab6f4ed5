import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { BatchObservableResult, Histogram, Meter, Observable } from '@opentelemetry/api';
import type { StoreAnswerMessage } from '@rl/core';
import { LATENCY_BOUNDS_S, LimiterSum, type MeteredLimiter } from '@rl/core/metrics';
import { OBSERVED, type Observed, STORE_DURATION } from './catalogue.js';

/** Where core tells of each answer of a store. */
const STORE_ANSWERS = '@rl/core:store';

/** The limiters that are published through one meter, and its instruments. */
class Publication {
  readonly #sum = new LimiterSum();
  readonly #meter: Meter;
  readonly #instruments: readonly (readonly [Observed, Observable])[];
  readonly #duration: Histogram;

  constructor(meter: Meter) {
    this.#meter = meter;
    this.#instruments = OBSERVED.map((observed) => [observed, instrumentOf(meter, observed)]);
    const { name, description, unit } = STORE_DURATION;
    const advice = { explicitBucketBoundaries: [...LATENCY_BOUNDS_S] };
    this.#duration = meter.createHistogram(name, { description, unit, advice });
  }

  /** @returns what stops it */
  publish(limiters: readonly MeteredLimiter[]): () => void {
    const wasEmpty = this.#sum.size === 0;
    const remove = this.#sum.add(limiters);
    if (wasEmpty && this.#sum.size > 0) this.#start();
    return () => {
      const isPublishing = this.#sum.size > 0;
      remove();
      if (isPublishing && this.#sum.size === 0) this.#stop();
    };
  }

  #start(): void {
    this.#meter.addBatchObservableCallback(this.#observe, this.#observables());
    subscribe(STORE_ANSWERS, this.#record);
  }

  #stop(): void {
    this.#meter.removeBatchObservableCallback(this.#observe, this.#observables());
    unsubscribe(STORE_ANSWERS, this.#record);
  }

  #observables(): Observable[] {
    return this.#instruments.map(([, instrument]) => instrument);
  }

  readonly #observe = (result: BatchObservableResult): void => {
    const sum = this.#sum.read();
    for (const [observed, instrument] of this.#instruments) {
      for (const { value, attributes } of observed.observe(sum)) {
        result.observe(instrument, value, attributes);
      }
    }
  };

  readonly #record = (message: unknown): void => {
    const { limiter, durationS, fault } = message as StoreAnswerMessage;
    if (!this.#sum.has(limiter)) return;
    this.#duration.record(durationS, fault === undefined ? {} : { 'error.type': fault });
  };
}

function instrumentOf(meter: Meter, { name, description, unit, kind }: Observed): Observable {
  const options = { description, unit };
  switch (kind) {
    case 'counter':
      return meter.createObservableCounter(name, options);
    case 'updowncounter':
      return meter.createObservableUpDownCounter(name, options);
    case 'gauge':
      return meter.createObservableGauge(name, options);
  }
}

type Publications = WeakMap<Meter, Pick<Publication, 'publish'>>;

/** What every copy of this module that a process loads has in common. */
const PUBLICATIONS: unique symbol = Symbol.for('@rl/otel.publications') as never;

/** The one of this meter, whichever copy of this module made it, or a new one. */
export function publicationOf(meter: Meter): Pick<Publication, 'publish'> {
  const shared = globalThis as { [PUBLICATIONS]?: Publications };
  shared[PUBLICATIONS] ??= new WeakMap();
  const found = shared[PUBLICATIONS].get(meter) ?? new Publication(meter);
  shared[PUBLICATIONS].set(meter, found);
  return found;
}

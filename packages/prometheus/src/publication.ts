import { invalidValue } from '@rl/core/http';
import { LimiterSum, type MeteredLimiter, type MetricsSum } from '@rl/core/metrics';
import type { Metric, Registry, RegistryContentType } from 'prom-client';
import { FAMILIES } from './catalogue.js';
import { SummedMetric } from './summed-metric.js';

/** Of either content type. */
export type AnyRegistry = Registry<RegistryContentType>;

/**
 * Where a metric of ours has its publication: the same for every copy of this module that a process
 * loads. What another copy may call is `publish` alone.
 */
const PUBLICATION: unique symbol = Symbol.for('@rl/prometheus.publication') as never;

interface Owned {
  readonly [PUBLICATION]?: Pick<Publication, 'publish'>;
}

/** The limiters that are published on one registry, and the metrics that stand there for them. */
class Publication {
  readonly #sum = new LimiterSum();
  readonly #metrics = FAMILIES.map((family) => {
    const metric = new SummedMetric(family, () => this.#read());
    return Object.defineProperty(metric, PUBLICATION, { value: this });
  });
  /** Read once for all metrics of a scrape: a registry asks them in one turn. */
  #reading: MetricsSum | undefined;

  /** Also puts back what somebody has removed from the registry. @returns what stops it */
  publish(limiters: readonly MeteredLimiter[], registry: AnyRegistry): () => void {
    for (const [i, { name }] of FAMILIES.entries()) {
      if (registry.getSingleMetric(name) !== undefined) continue;
      const metric = this.#metrics[i] as SummedMetric;
      metric.name = name;
      registry.registerMetric(metric as unknown as Metric);
    }
    return this.#sum.add(limiters);
  }

  #read(): MetricsSum {
    if (this.#reading === undefined) {
      this.#reading = this.#sum.read();
      queueMicrotask(() => {
        this.#reading = undefined;
      });
    }
    return this.#reading;
  }
}

/**
 * The one that is on the registry, whichever copy of this module made it, or a new one.
 * @throws RangeError where a metric there has one of our names and is another's
 */
export function publicationOn(registry: AnyRegistry): Pick<Publication, 'publish'> {
  let found: Pick<Publication, 'publish'> | undefined;
  for (const { name } of FAMILIES) {
    const metric = registry.getSingleMetric(name) as Owned | undefined;
    if (metric === undefined) continue;
    const publication = metric[PUBLICATION];
    if (publication === undefined) {
      throw invalidValue('registry', `one without another metric named ${name}`, registry);
    }
    found ??= publication;
  }
  return found ?? new Publication();
}

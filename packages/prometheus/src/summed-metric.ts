import type { MetricsSum } from '@rl/core/metrics';
import type { Aggregator, MetricType } from 'prom-client';
import type { Family, Sample } from './catalogue.js';

/** What a registry is told of a metric when it asks: the JSON that it prints. */
export interface Printed {
  name: string;
  help: string;
  type: MetricType;
  aggregator: Aggregator;
  values: readonly Sample[];
}

/**
 * What stands in a registry for a family: not one of prom-client's classes, which count by themselves,
 * but what a registry needs of them. Its values are made when it is asked.
 */
export class SummedMetric {
  /** Not readonly: an OpenMetrics registry takes `_total` off, and puts it behind each value. */
  name: string;
  readonly help: string;
  readonly type: MetricType;
  readonly aggregator: Aggregator;
  readonly #family: Family;
  readonly #read: () => MetricsSum;

  constructor(family: Family, read: () => MetricsSum) {
    this.name = family.name;
    this.help = family.help;
    // The enum of prom-client exists in its types alone.
    this.type = family.type as unknown as MetricType;
    this.aggregator = family.aggregator ?? 'sum';
    this.#family = family;
    this.#read = read;
  }

  async get(): Promise<Printed> {
    const { name, help, type, aggregator } = this;
    return { name, help, type, aggregator, values: this.#family.samples(this.#read()) };
  }

  /** Nothing: the counts are the limiters', and only rise. */
  reset(): void {}
}

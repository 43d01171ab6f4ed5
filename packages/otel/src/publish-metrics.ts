import { createNoopMeter, type Meter, metrics } from '@opentelemetry/api';
import { checkOptionNames, invalidType } from '@rl/core/http';
import { limitersOf, type MeteredLimiter } from '@rl/core/metrics';
import { publicationOf } from './publication.js';

export interface PublishOptions {
  /** Default: `metrics.getMeter('@rl/otel')` of the provider that is registered when it is called. */
  meter?: Meter | undefined;
}

/**
 * Publishes what these limiters count. They are read when an export asks; of calls that wait for the
 * store each has its duration recorded. Limiters on one meter add up, by policy and key class; however
 * often one is published, it counts once. Without an SDK it does nothing, also where one comes later.
 *
 * @param limiters one, or a list
 * @returns what stops publishing them: what they had counted stays in the totals, which only rise,
 * while others of the meter are published. To be called when a limiter is closed
 * @throws TypeError that names the field and shows the value
 */
export function publishMetrics(
  limiters: MeteredLimiter | readonly MeteredLimiter[],
  options: PublishOptions = {},
): () => void {
  const list = limitersOf(limiters);
  if (typeof options !== 'object' || options === null) {
    throw invalidType('options', 'an object such as { meter }', options);
  }
  checkOptionNames('', options, ['meter']);
  const { meter = metrics.getMeter('@rl/otel') } = options;
  if (typeof meter?.addBatchObservableCallback !== 'function') {
    throw invalidType('meter', 'a Meter of @opentelemetry/api', meter);
  }
  return meter === createNoopMeter() ? () => {} : publicationOf(meter).publish(list);
}

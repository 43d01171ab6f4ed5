import { checkOptionNames, invalidType } from '@rl/core/http';
import { limitersOf, type MeteredLimiter } from '@rl/core/metrics';
import { register } from 'prom-client';
import { type AnyRegistry, publicationOn } from './publication.js';

export interface PublishOptions {
  /** Where a scrape finds the metrics. Default: `register` of prom-client. */
  registry?: AnyRegistry | undefined;
}

/**
 * Publishes what these limiters count. They are read when a scrape asks; a call costs nothing for it.
 * Limiters on one registry add up, by policy and key class; however often one is published, it counts
 * once, also by several copies of this module.
 *
 * @param limiters one, or a list
 * @returns what stops publishing them: what they had counted stays in the totals, which only rise.
 * To be called when a limiter is closed
 * @throws TypeError or RangeError that names the field and shows the value
 */
export function publishMetrics(
  limiters: MeteredLimiter | readonly MeteredLimiter[],
  options: PublishOptions = {},
): () => void {
  const list = limitersOf(limiters);
  if (typeof options !== 'object' || options === null) {
    throw invalidType('options', 'an object such as { registry }', options);
  }
  checkOptionNames('', options, ['registry']);
  const { registry = register } = options;
  const isRegistry =
    typeof registry?.registerMetric === 'function' &&
    typeof registry.getSingleMetric === 'function';
  if (!isRegistry) throw invalidType('registry', 'a Registry of prom-client', registry);
  return publicationOn(registry).publish(list, registry);
}

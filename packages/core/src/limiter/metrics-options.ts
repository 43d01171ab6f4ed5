import { checkInteger } from '../arith/integers.js';
import { checkOptionNames, invalidType } from '../errors.js';
import type { LimiterOptions, TopOptions } from './contract.js';

/** Most keys that are kept, or told of. */
const MAX_TOP = 1000;

/**
 * How many keys are kept; undefined where nothing is noted.
 * @throws TypeError or RangeError that names the option and shows the value
 */
export function parseTopKeys(metrics: LimiterOptions['metrics'] = true): number | undefined {
  if (metrics === false) return undefined;
  if (metrics === true) return 50;
  if (typeof metrics !== 'object' || metrics === null) {
    throw invalidType('metrics', 'true, false or an object such as { topKeys: 50 }', metrics);
  }
  checkOptionNames('metrics', metrics, ['topKeys']);
  return checkInteger('metrics.topKeys', metrics.topKeys ?? 50, 0, MAX_TOP);
}

/**
 * How many keys are told of.
 * @throws TypeError or RangeError that names the option and shows the value
 */
export function parseTopCount(options: TopOptions = {}): number {
  if (typeof options !== 'object' || options === null) {
    throw invalidType('options', 'an object such as { count: 10 }', options);
  }
  checkOptionNames('', options, ['count']);
  return checkInteger('count', options.count ?? 10, 1, MAX_TOP);
}

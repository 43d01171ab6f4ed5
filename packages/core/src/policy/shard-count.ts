import { checkInteger } from '../arith/integers.js';
import { invalidValue } from '../errors.js';

/** What a denial may have to look at in one turn. */
const MAX_SHARDS = 64;

/** Below it a sub-bucket would be empty most of the time, and calls would go from one to the next. */
const MIN_PERMITS = 10;

/**
 * In how many sub-buckets one bucket is kept. Each has at least 10 permits of the limit and of the
 * burst, so a limit of 0 has none.
 *
 * @param field what errors call the option
 * @returns undefined for 1, the bucket itself
 * @throws TypeError or RangeError that names the field and shows the value
 */
export function parseShards(
  field: string,
  shards: unknown,
  limit: number,
  burst: number,
): number | undefined {
  if (shards === undefined) return undefined;
  const count = checkInteger(field, shards, 1, MAX_SHARDS);
  if (count === 1) return undefined;
  const most = Math.floor(Math.min(limit, burst) / MIN_PERMITS);
  if (count <= most) return count;
  const which = burst < limit ? `a burst of ${burst}` : `a limit of ${limit}`;
  const expected =
    most < 2
      ? `left out with ${which}: each shard needs ${MIN_PERMITS} permits of it`
      : `at most ${most} with ${which}, so that each has ${MIN_PERMITS} permits of it`;
  throw invalidValue(field, expected, shards);
}

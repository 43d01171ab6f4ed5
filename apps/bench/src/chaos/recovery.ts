import type { Observation } from './account.js';

/** So many decisions in a row without the fallback show that the store decides again. */
const IN_A_ROW = 20;

/**
 * How long after an instant the store decided again for a replica; undefined where it did not. Calls
 * that leases may decide, which they do also without a store, do not count.
 * @param observations of the replica, in the order in which they were decided
 * @param untilMs later ones do not count either
 */
export function recoveryMs(
  observations: readonly Observation[],
  fromMs: number,
  untilMs: number,
): number | undefined {
  let firstMs: number | undefined;
  let inARow = 0;
  for (const { kind, atMs, tookMs, origin } of observations) {
    if (atMs < fromMs || atMs >= untilMs || kind === 'leased' || kind === 'both') continue;
    if (origin === 'fallback') {
      firstMs = undefined;
      inARow = 0;
    } else {
      if (origin === 'store') firstMs ??= atMs + tookMs - fromMs;
      if (firstMs !== undefined && ++inARow === IN_A_ROW) return firstMs;
    }
  }
  return undefined;
}

/** The time in which a permit was taken: from the call to the decision. */
export interface Admitted {
  readonly atMs: number;
  readonly tookMs: number;
}

/** A token bucket: what it holds when it is full, and what comes back in a millisecond. */
export interface Quota {
  readonly burst: number;
  readonly perMs: number;
}

/** What is admitted at most in an interval. */
export function quotaOf({ burst, perMs }: Quota, intervalMs: number): number {
  return burst + perMs * intervalMs;
}

/** How many permits were certainly taken between two instants. */
export function admittedBetween(
  admitted: readonly Admitted[],
  fromMs: number,
  toMs: number,
): number {
  return admitted.filter(({ atMs, tookMs }) => atMs >= fromMs && atMs + tookMs <= toMs).length;
}

/**
 * The most, over all intervals, that was certainly admitted above the quota, in permits; 0 where it
 * was kept to. A permit counts for an interval where its call and its decision both fall into it.
 */
export function overshootOf(admitted: readonly Admitted[], quota: Quota): number {
  const ends = admitted
    .map(({ atMs, tookMs }) => ({ atMs, endMs: atMs + tookMs }))
    .sort((a, b) => a.endMs - b.endMs);
  let most = 0;
  for (const { atMs: fromMs } of admitted) {
    let count = 0;
    for (const { atMs, endMs } of ends) {
      if (atMs < fromMs) continue;
      count++;
      most = Math.max(most, count - quotaOf(quota, endMs - fromMs));
    }
  }
  return most;
}

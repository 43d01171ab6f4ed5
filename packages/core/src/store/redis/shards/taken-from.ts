import type { Shard } from './shares.js';

/*
 * `decidedAtMs` of a decision comes back with a refund. Times of a store are whole milliseconds, so a
 * fraction behind it can say which sub-bucket the permits were taken from: 1 ÷ 128 for the first, up
 * to 64 ÷ 128; none where they came from several. A double holds both, exactly.
 */
const UNIT = 128;

/** A time of the store, with the sub-bucket. */
export function markTaken(atMs: number, index: number): number {
  return atMs + (index + 1) / UNIT;
}

/** @returns index undefined where it is not told, or was one of other sub-buckets than there are */
export function readTaken(
  takenAtMs: number | undefined,
  count: Shard['count'],
): { atMs: number | undefined; index: number | undefined } {
  if (takenAtMs === undefined) return { atMs: undefined, index: undefined };
  const atMs = Math.floor(takenAtMs);
  const index = (takenAtMs - atMs) * UNIT - 1;
  return { atMs, index: index >= 0 && index < count ? index : undefined };
}

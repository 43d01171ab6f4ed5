import { crcOf, nextCrc, SLOTS } from '../slot.js';
import type { Shard } from './shares.js';

/**
 * What stands between an encoded partition key and a suffix. An encoded key has a `%` only in front of
 * hex digits and of `sha256-`, so it never contains this: no two keys share a tag.
 */
const SEPARATOR = '%@';

/** Two of these are a suffix: enough that there is one for each slot that is wanted, see the tests. */
const DIGITS = [...'0123456789abcdefghijklmnopqrstuvwxyz'].map((digit) => digit.charCodeAt(0));

/** A sub-bucket's slot is at most so many above where it is meant to be. */
const BAND = 256;

/**
 * The hash tag of a sub-bucket: the encoded partition key and a suffix of four characters, found so
 * that the tag's slot is within 256 above `base + index × 16384 ÷ count`, where `base` is the slot of
 * the key's tag without a suffix. So the sub-buckets are spread evenly over the slots, whoever has
 * which of them: of 8 at most 3 are in any third. All replicas find the same.
 */
export function shardTag(encodedKey: string, { index, count }: Shard): string {
  const base = crcOf(encodedKey);
  const wanted = (base + Math.floor((index * SLOTS) / count)) % SLOTS;
  let start = base;
  for (let i = 0; i < SEPARATOR.length; i++) start = nextCrc(start, SEPARATOR.charCodeAt(i));
  for (const first of DIGITS) {
    const behind = nextCrc(start, first);
    for (const second of DIGITS) {
      const above = (nextCrc(behind, second) - wanted) & (SLOTS - 1);
      if (above < BAND) return encodedKey + SEPARATOR + String.fromCharCode(first, second);
    }
  }
  throw new Error(`no suffix of ${encodedKey} is in slot ${wanted} or shortly behind it`);
}

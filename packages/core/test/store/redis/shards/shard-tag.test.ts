import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodePartitionKey } from '../../../../src/key/partition-key.js';
import { shardTag } from '../../../../src/store/redis/shards/shard-tag.js';
import { SLOTS, slotOf } from '../../../../src/store/redis/slot.js';
import { fuzzRuns } from '../../../support/fuzz.js';

/** How far a slot is above another, around the circle. */
const above = (slot: number, from: number) => (slot - from + SLOTS) % SLOTS;

const slotsOf = (key: string, count: number) =>
  Array.from({ length: count }, (_, index) => slotOf(shardTag(key, { index, count })));

describe('the slot of a tag', () => {
  it.each([
    // The check value of CRC16-XMODEM, and examples of the specification of Redis Cluster.
    ['123456789', 0x31c3 % SLOTS],
    ['', 0],
    ['foo', 12182],
    ['user1000', 3443],
  ])('of %j is %i', (tag, slot) => {
    expect(slotOf(tag)).toBe(slot);
  });
});

describe('the tags of sub-buckets', () => {
  it('are in slots that are spread evenly, beginning at that of the key', () =>
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 2, max: 64 }), (text, count) => {
        const key = encodePartitionKey(text);
        const base = slotOf(key);
        slotsOf(key, count).forEach((slot, index) => {
          const meant = (base + Math.floor((index * SLOTS) / count)) % SLOTS;
          expect(above(slot, meant)).toBeLessThan(256);
        });
      }),
      fuzzRuns(),
    ));

  it('there is one for each slot that a key can have', () => {
    const seen = new Set<number>();
    for (let i = 0; seen.size < SLOTS; i++) {
      const key = `k${i}`;
      const slot = slotOf(key);
      if (seen.has(slot)) continue;
      seen.add(slot);
      expect(above(slotOf(shardTag(key, { index: 0, count: 8 })), slot)).toBeLessThan(256);
    }
  });

  it('8 of them: at most 3 in any third of the slots, and all distinct', () => {
    for (let k = 0; k < 300; k++) {
      const slots = slotsOf(`tenant-${k}`, 8);
      expect(new Set(slots).size).toBe(8);
      for (const from of slots) {
        const inThird = slots.filter((slot) => above(slot, from) < Math.ceil(SLOTS / 3));
        expect(inThird.length).toBeLessThanOrEqual(3);
      }
    }
  });

  it('64 of them are distinct, too', () => {
    for (let k = 0; k < 50; k++) expect(new Set(slotsOf(`tenant-${k}`, 64)).size).toBe(64);
  });

  it('differ from those of every other key, and from whole keys', () =>
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.nat(7), fc.nat(7), (a, b, i, j) => {
        const tag = shardTag(encodePartitionKey(a), { index: i, count: 8 });
        const other = shardTag(encodePartitionKey(b), { index: j, count: 8 });
        if (a !== b || i !== j) expect(tag).not.toBe(other);
        expect(encodePartitionKey(tag)).not.toBe(tag);
        expect(tag).toMatch(/^[!-z|~]*$/);
      }),
      fuzzRuns(),
    ));

  it('are no longer than a key and four characters', () => {
    const longest = encodePartitionKey('k'.repeat(200));
    expect(shardTag(longest, { index: 63, count: 64 })).toHaveLength(204);
  });
});

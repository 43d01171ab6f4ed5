import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HeavyHitters } from '../../src/metrics/heavy-hitters.js';
import { fuzzRuns } from '../support/fuzz.js';
import { keptBy, keysCutFromHeaders } from '../support/kept-memory.js';

/** Few keys that come often and many that come once, in any order. */
const streams = fc.record({
  room: fc.integer({ min: 1, max: 8 }),
  stream: fc.array(
    fc.record({
      key: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 60 })).map(String),
      times: fc.integer({ min: 1, max: 70 }),
    }),
    { minLength: 1, maxLength: 200 },
  ),
});

describe('the keys that are counted most', () => {
  it('are kept in bounded memory: no count is short, none is above by more than its error', () => {
    const property = fc.property(streams, ({ room, stream }) => {
      const hitters = new HeavyHitters(room);
      const counts = new Map<string, number>();
      let total = 0;
      for (const { key, times } of stream) {
        expect(hitters.add(key, times).key).toBe(key);
        counts.set(key, (counts.get(key) ?? 0) + times);
        total += times;
      }
      const kept = hitters.all();
      expect(kept).toHaveLength(Math.min(room, counts.size));
      expect(kept.reduce((sum, { count }) => sum + count, 0)).toBe(total);
      for (const { key, count, error } of kept) {
        expect(hitters.find(key)).toMatchObject({ key, count });
        const truth = counts.get(key) as number;
        expect(count).toBeGreaterThanOrEqual(truth);
        expect(count - error).toBeLessThanOrEqual(truth);
      }
      for (const [key, count] of counts) {
        if (count * room > total) expect(hitters.find(key)?.key).toBe(key);
      }
      // Exact while there is room.
      if (counts.size <= room) {
        for (const { key, count, error } of kept)
          expect([count, error]).toEqual([counts.get(key), 0]);
      }
    });
    fc.assert(property, fuzzRuns());
  });

  it('give way to a new one, the least of them first, which takes over its count as its error', () => {
    const hitters = new HeavyHitters<string>(2);
    hitters.add('a', 5).notes.push('of a');
    hitters.add('b', 3).notes.push('of b');
    expect(hitters.add('c', 2)).toEqual({ key: 'c', count: 5, error: 3, notes: [] });
    expect(hitters.find('b')).toBeUndefined();
    expect(hitters.find('a')).toEqual({ key: 'a', count: 5, error: 0, notes: ['of a'] });
  });

  it('are kept as digests where they are long, and found by the key that was given', () => {
    const hitters = new HeavyHitters(4);
    const long = 'k'.repeat(100_000);
    hitters.add(long, 1);
    hitters.add(`${long}!`, 1);
    expect(hitters.all().map(({ key }) => key.length)).toEqual([72, 72]);
    expect(hitters.find(long)?.count).toBe(1);
    expect(hitters.add(long, 2).count).toBe(3);
  });

  it('are texts of their own: one cut out of a header does not keep the header', async () => {
    const hitters = new HeavyHitters(2000);
    const kept = await keptBy(() => {
      for (const key of keysCutFromHeaders()) hitters.add(key, 1);
    });
    expect(hitters.all()).toHaveLength(2000);
    expect(kept).toBeLessThan(5_000_000);
  });
});

import { describe, expect, it } from 'vitest';
import { EXACT_PER_SECOND, RATE, Sampler } from '../../src/metrics/sampler.js';

/** The same numbers each time, evenly from 0 to below 1. */
function seeded(): () => number {
  let state = 42;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Sees as many events in one millisecond. @returns for how many each one that was taken stands, by its place */
function takeFrom(sampler: Sampler, count: number, nowMs: number): Map<number, number> {
  const taken = new Map<number, number>();
  for (let i = 0; i < count; i++) if (--sampler.until === 0) taken.set(i, sampler.next(nowMs));
  return taken;
}

const sum = (values: Iterable<number>) => [...values].reduce((a, b) => a + b, 0);

describe('a sampler', () => {
  it('takes each event, as one, up to a thousand a second', () => {
    const sampler = new Sampler(() => 0.9);
    for (const nowMs of [0, 1000, 2000]) {
      const taken = takeFrom(sampler, EXACT_PER_SECOND - 1, nowMs);
      expect([...taken.values()]).toEqual(Array(EXACT_PER_SECOND - 1).fill(1));
    }
  });

  it('counts seconds from the first event in each, wherever the clock began', () => {
    const sampler = new Sampler(() => 0);
    takeFrom(sampler, EXACT_PER_SECOND, 7_000_500);
    expect([...takeFrom(sampler, 1, 7_001_499).values()]).toEqual([RATE]);
    expect([...takeFrom(sampler, 2, 7_001_500).values()]).toEqual([RATE, 1]);
  });

  it('takes one of so many of more, which stands for as many', () => {
    const taken = takeFrom(new Sampler(seeded()), 1_000_000, 0);
    const beyond = [...taken.values()].slice(EXACT_PER_SECOND);
    expect(new Set(beyond)).toEqual(new Set([RATE]));
    expect(Math.abs(sum(taken.values()) - 1_000_000)).toBeLessThan(50_000);
  });

  it('leaves out none to 2046 between two, 1023 on average', () => {
    for (const [random, gap] of [
      [0, 1],
      [0.5, RATE],
      [0.999_999, 2 * RATE - 1],
    ] as const) {
      const places = [...takeFrom(new Sampler(() => random), 8000, 0).keys()];
      const [first = 0, second = 0] = places.slice(EXACT_PER_SECOND);
      expect(second - first).toBe(gap);
    }
  });

  it('is not to be fooled: of events in a pattern each kind is counted for what it is', () => {
    // Where each 1024th was taken, all would be of one kind.
    const taken = takeFrom(new Sampler(seeded()), 1_000_000, 0);
    for (const kind of [0, 1]) {
      const own = [...taken].filter(([place]) => place % 2 === kind).map(([, times]) => times);
      expect(Math.abs(sum(own) - 500_000)).toBeLessThan(60_000);
    }
  });

  it('is exact again in a calm second, but for the first event', () => {
    const sampler = new Sampler(() => 0);
    takeFrom(sampler, 5000, 0);
    expect([...takeFrom(sampler, 4, 1000).values()]).toEqual([RATE, 1, 1, 1]);
  });
});

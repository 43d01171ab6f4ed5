import { beforeEach, describe, expect, it } from 'vitest';
import { Breaker, RETURN_MS } from '../../src/fallback/breaker.js';
import { ManualClock } from '../../src/testing/manual-clock.js';

const LAST = 1 - Number.EPSILON / 2;

let clock: ManualClock;
beforeEach(() => {
  clock = new ManualClock();
});

/** @param random 0.5: neither earlier nor later */
function open(random = 0.5, returnMs = 750): Breaker {
  return new Breaker(clock, returnMs, () => random);
}

/** Whether each of `count` failures, of questions asked one after the other, lost the store. */
function fail(breaker: Breaker, count: number): boolean[] {
  return Array.from({ length: count }, () => breaker.failed(breaker.round, false));
}

function lose(random?: number, returnMs?: number): Breaker {
  const breaker = open(random, returnMs);
  fail(breaker, 5);
  return breaker;
}

function find(breaker: Breaker): void {
  clock.advance(breaker.dueAfterMs);
  expect(breaker.startProbe()).toBe(true);
  breaker.found();
}

describe('a store is lost', () => {
  it('by five failures, each of a question asked after the one before', () => {
    const breaker = open();
    expect(fail(breaker, 4)).toEqual([false, false, false, false]);
    expect(breaker.state).toBe('up');
    expect(fail(breaker, 1)).toEqual([true]);
    expect(breaker.state).toBe('lost');
  });

  it('by no burst that was asked before the first failure: of it one counts', () => {
    const breaker = open();
    const asked = Array.from({ length: 100 }, () => breaker.round);
    expect(asked.map((round) => breaker.failed(round, false))).not.toContain(true);
    expect(fail(breaker, 3)).not.toContain(true);
    expect(fail(breaker, 1)).toEqual([true]);
  });

  it('by none of those asked two failures ago', () => {
    const breaker = open();
    const first = breaker.round;
    fail(breaker, 2);
    for (let i = 0; i < 10; i++) expect(breaker.failed(first, false)).toBe(false);
    expect(fail(breaker, 3)).toEqual([false, false, true]);
  });

  it('not where an answer comes in time between failures', () => {
    const breaker = open();
    for (let i = 0; i < 20; i++) {
      expect(fail(breaker, 4)).not.toContain(true);
      breaker.succeeded();
    }
    expect(fail(breaker, 5)).toEqual([false, false, false, false, true]);
  });

  it('by silence once it lasts for 100 ms; by a failure of another kind at once', () => {
    const silent = open();
    const fallSilent = () => silent.failed(silent.round, true);
    for (let i = 0; i < 10; i++) expect(fallSilent()).toBe(false);
    clock.advance(99);
    expect(fallSilent()).toBe(false);
    clock.advance(1);
    expect(fallSilent()).toBe(true);
    const refusing = open();
    for (let i = 0; i < 4; i++) refusing.failed(refusing.round, true);
    expect(refusing.failed(refusing.round, false)).toBe(true);
  });

  it('by no silence that was broken', () => {
    const breaker = open();
    for (let i = 0; i < 5; i++) breaker.failed(breaker.round, true);
    clock.advance(100);
    breaker.succeeded();
    for (let i = 0; i < 9; i++) expect(breaker.failed(breaker.round, true)).toBe(false);
  });

  it('once: more failures change nothing', () => {
    const breaker = lose();
    const due = breaker.dueAfterMs;
    clock.advance(10);
    expect(fail(breaker, 20)).not.toContain(true);
    expect(breaker.dueAfterMs).toBe(due - 10);
  });

  it('for as long as no probe is answered, whatever else is', () => {
    const breaker = lose();
    breaker.succeeded();
    expect(breaker.state).toBe('lost');
  });
});

describe('while it is lost', () => {
  /** The waits until each of six probes, all of which fail at once. */
  function waits(random: number): number[] {
    const breaker = lose(random);
    return Array.from({ length: 6 }, () => {
      const wait = breaker.dueAfterMs;
      clock.advance(wait - 1);
      expect(breaker.startProbe()).toBe(false);
      clock.advance(1);
      expect(breaker.startProbe()).toBe(true);
      breaker.probeFailed();
      return wait;
    });
  }

  it.each([
    [0, [75, 150, 188, 188, 188, 188]],
    [0.5, [100, 200, 250, 250, 250, 250]],
    [LAST, [125, 250, 313, 313, 313, 313]],
  ])(
    'it is probed after 100 ms and ever later, a quarter around that: random %d',
    (random, expected) => {
      expect(waits(random)).toEqual(expected);
    },
  );

  it('one probe is under way at a time, and none is due meanwhile', () => {
    const breaker = lose();
    clock.advance(100);
    expect(breaker.startProbe()).toBe(true);
    expect(breaker.isProbing).toBe(true);
    clock.advance(10_000);
    expect(breaker.startProbe()).toBe(false);
    breaker.probeFailed();
    expect(breaker.isProbing).toBe(false);
    expect(breaker.startProbe()).toBe(false);
    expect(breaker.dueAfterMs).toBe(200);
  });

  it('a sign of life brings the next probe on, and puts none off', () => {
    const breaker = lose();
    clock.advance(1);
    breaker.hurry();
    expect(breaker.dueAfterMs).toBe(0);
    expect(breaker.startProbe()).toBe(true);
    breaker.probeFailed();
    clock.advance(10_000);
    breaker.hurry();
    expect(breaker.dueAfterMs).toBe(0);
    expect(breaker.startProbe()).toBe(true);
  });

  it('a sign of life starts no second probe', () => {
    const breaker = lose();
    clock.advance(100);
    breaker.startProbe();
    breaker.hurry();
    expect(breaker.startProbe()).toBe(false);
  });
});

describe('a store that is up or returning', () => {
  it('is not probed', () => {
    const up = open();
    clock.advance(10_000);
    up.hurry();
    expect(up.startProbe()).toBe(false);
    const returning = lose();
    find(returning);
    returning.hurry();
    clock.advance(10_000);
    expect(returning.startProbe()).toBe(false);
  });
});

describe('a store that is found', () => {
  it('is returning for as long as was said, and up then', () => {
    const breaker = lose(0.5, 300);
    expect(breaker.tryReturn()).toBe(false);
    find(breaker);
    expect([breaker.state, breaker.isProbing, breaker.dueAfterMs]).toEqual([
      'returning',
      false,
      300,
    ]);
    clock.advance(299);
    expect(breaker.tryReturn()).toBe(false);
    expect(breaker.state).toBe('returning');
    clock.advance(1);
    expect(breaker.tryReturn()).toBe(true);
    expect(breaker.state).toBe('up');
    expect(breaker.tryReturn()).toBe(false);
  });

  it('is up at once where nothing was admitted', () => {
    const breaker = lose(0.5, 0);
    find(breaker);
    expect(breaker.tryReturn()).toBe(true);
  });

  it('is lost by five failures while it is returning, and by none of what was asked before', () => {
    const breaker = lose();
    const before = breaker.round;
    find(breaker);
    expect(breaker.failed(before, false)).toBe(false);
    expect(fail(breaker, 4)).not.toContain(true);
    expect(breaker.state).toBe('returning');
    expect(fail(breaker, 1)).toEqual([true]);
    expect(breaker.state).toBe('lost');
    clock.advance(10_000);
    expect(breaker.tryReturn()).toBe(false);
  });

  it('is given five failures again once it is up', () => {
    const breaker = lose(0.5, 0);
    find(breaker);
    breaker.tryReturn();
    expect(fail(breaker, 5)).toEqual([false, false, false, false, true]);
  });

  it('is probed as early as at first when it is lost once more, where it was up meanwhile', () => {
    const breaker = lose(0.5, 0);
    for (let i = 0; i < 5; i++) {
      clock.advance(breaker.dueAfterMs);
      breaker.startProbe();
      breaker.probeFailed();
    }
    find(breaker);
    fail(breaker, 5);
    expect(breaker.dueAfterMs).toBe(250);
    find(breaker);
    breaker.tryReturn();
    fail(breaker, 5);
    expect(breaker.dueAfterMs).toBe(100);
  });

  it('has been tried by every replica before the first one asks it again', () => {
    // As long as a client takes to connect again, the longest wait for a probe, and its answer.
    expect(RETURN_MS).toBeGreaterThanOrEqual(500 + 313 + 50);
    // All of it, after the longest wait of this replica's own, is done within 2 s.
    expect(500 + 313 + RETURN_MS).toBeLessThan(1900);
  });
});

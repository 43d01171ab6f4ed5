import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeDecision } from '../../src/algorithms/make-decision.js';
import { GENERATION_MS, PolicyTraffic } from '../../src/metrics/policy-traffic.js';
import { parsePolicy } from '../../src/policy/policy.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { wallClock } from '../../src/time/clock.js';
import { keptBy } from '../support/kept-memory.js';

const POLICY = parsePolicy('p', { limit: 10, window: '1s' }, '');
const SHADOW = parsePolicy('p', { limit: 10, window: '1s', shadow: true }, '');
const ALLOWED = makeDecision(POLICY, true, 5, undefined, 1, 1, 0, 'store');
const DENIED = makeDecision(POLICY, false, 0, 70, 1, 1, 0, 'store');
const WOULD_DENY = makeDecision(SHADOW, false, 0, 70, 1, 1, 0, 'memory');

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function open(room = 3) {
  const clock = new ManualClock(1_000_000);
  const wall = new ManualClock(1_700_000_000_000);
  vi.spyOn(wallClock, 'nowMs').mockImplementation(() => wall.nowMs());
  const traffic = new PolicyTraffic(
    room,
    () => clock.nowMs(),
    () => 0.5,
  );
  const note = (key: string, times: number, decision = ALLOWED) => {
    traffic.noteCall(key, times, clock.nowMs());
    if (decision === ALLOWED) return;
    for (let i = 0; i < times; i++) traffic.noteDenial(key, 2, decision);
  };
  const pass = (ms: number) => {
    clock.advance(ms);
    wall.advance(ms);
  };
  return { traffic, note, pass, wall, clock };
}

describe('who asks most, and who is denied most', () => {
  it('is told apart, most first, no more than asked for', () => {
    const { traffic, note, pass } = open();
    note('a', 2);
    note('b', 4);
    note('c', 3);
    note('a', 3, DENIED);
    note('c', 4, WOULD_DENY);
    pass(500);
    expect(traffic.top('p', 2)).toEqual({
      policy: 'p',
      denied: [
        { key: 'c', count: 4, error: 0 },
        { key: 'a', count: 3, error: 0 },
      ],
      busiest: [
        { key: 'c', count: 7, error: 0 },
        { key: 'a', count: 5, error: 0 },
      ],
      coversMs: 500,
    });
  });

  it('is forgotten after five to ten minutes, and added up over both halves', () => {
    const { traffic, note, pass } = open();
    note('a', 2, DENIED);
    pass(GENERATION_MS - 1);
    note('a', 1, DENIED);
    expect(traffic.top('p', 9)).toMatchObject({ coversMs: GENERATION_MS - 1 });
    pass(1);
    note('a', 4, DENIED);
    note('b', 5);
    const a = { key: 'a', count: 7, error: 0 };
    expect(traffic.top('p', 9)).toEqual({
      policy: 'p',
      denied: [a],
      busiest: [a, { key: 'b', count: 5, error: 0 }],
      coversMs: GENERATION_MS,
    });
    pass(GENERATION_MS);
    expect(traffic.top('p', 9)).toMatchObject({
      denied: [{ key: 'a', count: 4 }],
      busiest: [{ key: 'b' }, { key: 'a' }],
      coversMs: GENERATION_MS,
    });
    pass(GENERATION_MS);
    expect(traffic.top('p', 9)).toMatchObject({ denied: [], busiest: [] });
  });

  it('is forgotten at once after ten minutes of silence, also by a look at one key', () => {
    const { traffic, note, pass } = open();
    note('a', 2, DENIED);
    pass(2 * GENERATION_MS - 1);
    expect(traffic.denialsOf('a').count).toBe(2);
    const later = open();
    later.note('a', 2, DENIED);
    later.pass(2 * GENERATION_MS);
    expect(later.traffic.denialsOf('a')).toEqual({ count: 0, last: [] });
    expect(later.traffic.top('p', 9)).toMatchObject({ busiest: [], coversMs: 0 });
  });

  it('says how much of a count may be of keys that gave way', () => {
    const { traffic, note } = open(2);
    note('a', 5, DENIED);
    note('b', 3, DENIED);
    note('c', 1, DENIED);
    const [a, c] = traffic.top('p', 9).denied;
    expect([a, c]).toEqual([
      { key: 'a', count: 5, error: 0 },
      { key: 'c', count: 4, error: 3 },
    ]);
    expect(traffic.denialsOf('c')).toMatchObject({ count: 1, last: [{ count: 1 }] });
    expect(traffic.denialsOf('b')).toEqual({ count: 0, last: [] });
  });

  it('counts denials that were left out in a busy second with those that were taken', () => {
    const { traffic, note } = open();
    note('a', 20_000, DENIED);
    const count = traffic.top('p', 1).denied[0]?.count ?? 0;
    expect(Math.abs(count - 20_000)).toBeLessThan(1100);
  });
});

describe('the denials of a key', () => {
  it('are noted with what was asked, told and meant, one note for a second', () => {
    const { traffic, note, pass, wall } = open();
    const atMs = wall.nowMs();
    note('a', 3, DENIED);
    pass(999);
    traffic.noteDenial('a', 9, WOULD_DENY);
    expect(traffic.denialsOf('a')).toEqual({
      count: 4,
      last: [{ atMs, count: 4, cost: 9, retryAfterMs: undefined, origin: 'memory', shadow: true }],
    });
    pass(1);
    note('a', 1, DENIED);
    expect(traffic.denialsOf('a').last).toEqual([
      { atMs: atMs + 1000, count: 1, cost: 2, retryAfterMs: 70, origin: 'store', shadow: false },
      expect.objectContaining({ atMs, count: 4 }),
    ]);
  });

  it('are noted five at most, the latest first, over both halves', () => {
    const { traffic, note, pass, wall } = open();
    const startMs = wall.nowMs();
    for (let i = 0; i < 7; i++) {
      note('a', i + 1, DENIED);
      pass(1000);
    }
    const counts = () => traffic.denialsOf('a').last.map(({ count }) => count);
    expect(counts()).toEqual([7, 6, 5, 4, 3]);
    pass(GENERATION_MS - 7000);
    note('a', 8, DENIED);
    expect(counts()).toEqual([8, 7, 6, 5, 4]);
    expect(traffic.denialsOf('a').count).toBe(36);
    expect(traffic.denialsOf('a').last[0]?.atMs).toBe(startMs + GENERATION_MS);
  });

  it('keep no more memory than that', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const clock = new ManualClock();
    const traffic = new PolicyTraffic(
      900,
      () => clock.nowMs(),
      () => 0.5,
    );
    const kept = await keptBy(() => {
      for (let s = 0; s < 200; s++) {
        for (let i = 0; i < 900; i++) traffic.noteDenial(`k${i}`, 1, DENIED);
        clock.advance(1000);
        vi.setSystemTime(clock.nowMs());
      }
    });
    expect(traffic.denialsOf('k1')).toMatchObject({ count: 200 });
    expect(traffic.denialsOf('k1').last).toHaveLength(5);
    expect(kept).toBeLessThan(3_000_000);
  });

  it('have a note of their own where the time of day was set back', () => {
    const { traffic, note, wall } = open();
    const atMs = wall.nowMs();
    note('a', 1, DENIED);
    wall.set(atMs - 5000);
    note('a', 1, DENIED);
    expect(traffic.denialsOf('a').last.map((one) => one.atMs)).toEqual([atMs - 5000, atMs]);
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLimiter } from '../../../src/limiter/limiter.js';
import { parsePolicy } from '../../../src/policy/policy.js';
import { memoryStore } from '../../../src/store/memory/memory-store.js';
import { ManualClock } from '../../../src/testing/manual-clock.js';
import { runFixture } from '../../support/run-fixture.js';

const FIVE_A_MINUTE = parsePolicy('p', { limit: 5, window: '60s' }, '');

describe('S-10 check and charge are one step', () => {
  it('50 calls at once, limit 5: exactly 5', async () => {
    const store = memoryStore({ clock: new ManualClock() });
    const decisions = await Promise.all(
      Array.from({ length: 50 }, () => store.consume(FIVE_A_MINUTE, 'k', 1)),
    );
    expect(decisions.map(({ allowed }) => allowed)).toEqual([
      ...Array(5).fill(true),
      ...Array(45).fill(false),
    ]);
    await store.close();
  });
});

describe('the number of keys is bounded (G7)', () => {
  it('D-01 a flood of fresh keys: at most maxKeys are held, and evictions are counted', async () => {
    const store = memoryStore({ maxKeys: 100_000, clock: new ManualClock() });
    const policy = parsePolicy('p', { limit: 5, window: '1h' }, '');
    for (let i = 0; i < 1_000_000; i++) store.tryConsume(policy, `key-${i}`, 1);
    expect(store.size).toBe(100_000);
    expect(store.evicted).toBe(900_000);
    await store.close();
  }, 60_000);

  it.each([
    [100, 1],
    [100, 60],
    [1000, 900],
  ])(
    'D-02 of %i keys, %i at their limit are not pushed out by fresh ones',
    async (maxKeys, count) => {
      const store = memoryStore({ maxKeys, clock: new ManualClock() });
      const spent = Array.from({ length: count }, (_, i) => `spent-${i}`);
      for (const key of spent) store.tryConsume(FIVE_A_MINUTE, key, 5);
      for (let i = 0; i < 20 * maxKeys; i++) store.tryConsume(FIVE_A_MINUTE, `fresh-${i}`, 1);
      const denied = spent.filter((key) => !store.tryConsume(FIVE_A_MINUTE, key, 1).allowed);
      expect(denied).toEqual(spent);
      expect(store.size).toBe(maxKeys);
      expect(store.tryConsume(FIVE_A_MINUTE, 'honest', 1)).toMatchObject({
        allowed: true,
        remaining: 4,
      });
      await store.close();
    },
  );

  it('where all are at their limit, the one that is full soonest makes room', async () => {
    const clock = new ManualClock();
    const store = memoryStore({ maxKeys: 2, clock });
    store.tryConsume(FIVE_A_MINUTE, 'first', 5);
    clock.advance(1000);
    store.tryConsume(FIVE_A_MINUTE, 'second', 5);
    store.tryConsume(FIVE_A_MINUTE, 'third', 5);
    expect(store.tryConsume(FIVE_A_MINUTE, 'second', 1).allowed).toBe(false);
    expect(store.evicted).toBe(1);
    await store.close();
  });

  it('a full table forgets full buckets before any other', async () => {
    const clock = new ManualClock();
    const store = memoryStore({ maxKeys: 2, clock });
    store.tryConsume(FIVE_A_MINUTE, 'old', 1);
    clock.advance(12_001);
    store.tryConsume(FIVE_A_MINUTE, 'spent', 5);
    store.tryConsume(FIVE_A_MINUTE, 'new', 1);
    expect(store.evicted).toBe(0);
    expect(store.tryConsume(FIVE_A_MINUTE, 'spent', 1).allowed).toBe(false);
    await store.close();
  });

  it.each([1, 2])('M-04 maxKeys %i: repeated keys in any order are decided', async (maxKeys) => {
    const store = memoryStore({ maxKeys, clock: new ManualClock() });
    for (const key of ['A', 'A', 'B', 'A', 'B', 'B', 'C', 'A']) {
      expect(store.tryConsume(FIVE_A_MINUTE, key, 1)).toMatchObject({ allowed: true });
      expect(store.size).toBeLessThanOrEqual(maxKeys);
    }
    await store.close();
  });

  it('D-04 keys named like parts of an object are keys', async () => {
    const store = memoryStore({ clock: new ManualClock() });
    const policy = parsePolicy('p', { limit: 2, window: '60s' }, '');
    const before = Object.getOwnPropertyNames(Object.prototype).sort();
    for (const key of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const allowed = [1, 2, 3].map(() => store.tryConsume(policy, key, 1).allowed);
      expect(allowed).toEqual([true, true, false]);
    }
    expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(before);
    expect(store.size).toBe(4);
    await store.close();
  });

  it('K-07 a megabyte of key is held as a digest, and is still its own bucket', async () => {
    const store = memoryStore({ clock: new ManualClock() });
    const policy = parsePolicy('p', { limit: 1, window: '60s' }, '');
    const long = 'x'.repeat(2 ** 20);
    for (const key of [`${long}a`, `${long}b`]) {
      expect(store.tryConsume(policy, key, 1).allowed).toBe(true);
      expect(store.tryConsume(policy, key, 1).allowed).toBe(false);
    }
    await store.reset(policy, `${long}a`);
    expect(store.tryConsume(policy, `${long}a`, 1).allowed).toBe(true);
    expect(store.tryConsume(policy, `${long}b`, 1).allowed).toBe(false);
    await store.close();
  });
});

describe('one timer, and only while the store is open', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('full buckets are forgotten without further traffic, others stay', async () => {
    const clock = new ManualClock();
    const store = memoryStore({ clock });
    for (let i = 0; i < 10_000; i++) store.tryConsume(FIVE_A_MINUTE, `key-${i}`, 1);
    clock.advance(5000);
    store.tryConsume(FIVE_A_MINUTE, 'late', 1);
    clock.advance(7001);
    await vi.advanceTimersByTimeAsync(1500);
    expect(store.size).toBe(1);
    expect(store.evicted).toBe(0);
    await store.close();
  });

  it('M-03 a thousand limiters made and closed, some twice, leave no timer', async () => {
    for (let i = 0; i < 1000; i++) {
      const limiter = createLimiter({ policies: { p: { limit: 1, window: '1s' } } });
      limiter.tryConsume({ p: 'k' });
      await limiter.close();
      if (i % 2 === 0) await limiter.close();
    }
    expect(vi.getTimerCount()).toBe(0);
  });

  it('a store has one timer however many keys and policies it holds', async () => {
    const store = memoryStore();
    for (const name of ['a', 'b', 'c']) {
      const policy = parsePolicy(name, { limit: 5, window: '365d' }, '');
      for (let i = 0; i < 1000; i++) store.tryConsume(policy, `key-${i}`, 1);
    }
    expect(vi.getTimerCount()).toBe(1);
    await store.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('in a process of its own', () => {
  it('M-01 a million expired keys leave the memory', async () => {
    const { peak, size, grown } = await runFixture<Record<string, number>>('million-keys.mjs');
    expect(peak).toBe(1_000_000);
    expect(size).toBeLessThanOrEqual(10_000);
    expect(grown).toBeLessThan(20 * 2 ** 20);
  });

  it('a key cut out of a header does not keep the header', async () => {
    const { grown } = await runFixture<Record<string, number>>('cut-keys.mjs');
    expect(grown).toBeLessThan(20 * 2 ** 20);
  });

  it('M-02 no request context stays reachable', async () => {
    const found = await runFixture<Record<string, number>>('request-contexts.mjs');
    expect(found.reachable).toBe(0);
    expect(found.timers).toBeLessThanOrEqual(1);
    expect(found.grown).toBeLessThan(20 * 2 ** 20);
  });

  it('M-03 T-04 the process ends by itself, also with a window of a year and without a warning', async () => {
    expect(await runFixture('fall-off-the-end.mjs')).toEqual({
      code: 0,
      allowed: [true, true, false],
    });
  });
});

describe('a closed store', () => {
  it('refuses checks and keeps nothing', async () => {
    const store = memoryStore();
    store.tryConsume(FIVE_A_MINUTE, 'k', 1);
    await store.close();
    await store.close();
    expect(store.size).toBe(0);
    expect(() => store.tryConsume(FIVE_A_MINUTE, 'k', 1)).toThrow('the store is closed');
    await expect(store.consume(FIVE_A_MINUTE, 'k', 1)).rejects.toMatchObject({ code: 'RL_CLOSED' });
    await expect(store.refund(FIVE_A_MINUTE, 'k', 1, undefined)).rejects.toMatchObject({
      code: 'RL_CLOSED',
    });
  });
});

describe('bad options are refused', () => {
  it.each([
    [{ maxKeys: 0 }, 'maxKeys must be an integer of at least 1, got 0'],
    [{ maxKeys: '10' }, 'maxKeys must be an integer of at least 1, got "10"'],
    [{ maxSize: 10 }, 'maxSize is not an option; the options are maxKeys, clock'],
    [null, 'options must be an object, got null'],
    [{ clock: {} }, 'clock must be an object with nowMs(), got an object'],
  ])('%j', (options, message) => {
    expect(() => memoryStore(options as never)).toThrow(message);
  });
});

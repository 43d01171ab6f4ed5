import { describe, expect, it, vi } from 'vitest';
import { Gate, type Verdict } from '../../src/http/gate.js';
import type { RateLimitOptions } from '../../src/http/options.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { readerOf } from './gates.js';

function open(options: object = {}): Gate<object> {
  const store = memoryStore({ clock: new ManualClock() });
  const all: object = { store, limit: 5, window: '60s', key: () => 'ann', ...options };
  return new Gate<object>(
    all as RateLimitOptions<object>,
    readerOf(() => undefined),
  );
}

const left = (verdict: unknown): number | undefined => (verdict as Verdict).decision?.remaining;

describe('F-05 a request that comes by twice', () => {
  it('is charged once, and another one too', () => {
    const gate = open();
    const request = {};
    expect(left(gate.judge(request))).toBe(4);
    expect(gate.judge(request)).toBeUndefined();
    expect(left(gate.judge({}))).toBe(3);
  });

  it('is charged once where the first is still being decided', async () => {
    const gate = open({ key: async () => 'ann' });
    const request = {};
    const first = gate.judge(request);
    expect(gate.judge(request)).toBeUndefined();
    expect(left(await first)).toBe(4);
    expect(left(await gate.judge({}))).toBe(3);
  });

  it('is charged to two gates', () => {
    const request = {};
    expect([left(open().judge(request)), left(open().judge(request))]).toEqual([4, 4]);
  });
});

describe('a request that is not charged', () => {
  it.each([
    ['at once', () => true],
    ['later', async () => true],
  ])('goes ahead and asks for no key and no cost, skipped %s', async (_, skip) => {
    const key = vi.fn(() => 'ann');
    const cost = vi.fn(() => 1);
    expect(await open({ skip, key, cost }).judge({})).toBeUndefined();
    expect(key).not.toHaveBeenCalled();
    expect(cost).not.toHaveBeenCalled();
  });

  it('what is not skipped is decided, at once where skip answers at once', async () => {
    expect(left(open({ skip: () => false }).judge({}))).toBe(4);
    expect(left(await open({ skip: async () => false }).judge({}))).toBe(4);
  });

  it.each([undefined, 'words'])('what skip rejects with becomes an error: %s', async (reason) => {
    const message = `the request could not be judged: ${reason}`;
    await expect(open({ skip: () => Promise.reject(reason) }).judge({})).rejects.toThrow(message);
  });
});

import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { later, outsideRequests, repeat } from '../../src/time/background.js';
import { collectGarbage } from '../support/collect-garbage.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('later', () => {
  it('works on the target once, unless it is cleared', () => {
    const target = { runs: 0 };
    const run = (found: typeof target) => {
      found.runs++;
    };
    later(target, 100, run);
    clearTimeout(later(target, 100, run));
    vi.advanceTimersByTime(99);
    expect(target.runs).toBe(0);
    vi.advanceTimersByTime(1000);
    expect(target.runs).toBe(1);
  });

  it('keeps hold of no target, and does nothing without one', async () => {
    let runs = 0;
    const start = () => {
      const target = {};
      later(target, 100, () => runs++);
      return new WeakRef(target);
    };
    const target = start();
    await collectGarbage();
    expect(target.deref()).toBeUndefined();
    vi.advanceTimersByTime(100);
    expect(runs).toBe(0);
  });
});

describe('repeat', () => {
  it('works on the target each time, the first time after a while, until it is ended', () => {
    const target = { runs: 0 };
    const end = repeat(target, 100, (found) => {
      found.runs++;
    });
    expect(target.runs).toBe(0);
    vi.advanceTimersByTime(99);
    expect(target.runs).toBe(0);
    vi.advanceTimersByTime(201);
    expect(target.runs).toBe(3);
    end();
    end();
    vi.advanceTimersByTime(1000);
    expect(target.runs).toBe(3);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends by itself when nobody holds the target', async () => {
    const start = () => {
      const target = { runs: 0 };
      repeat(target, 100, (found) => {
        found.runs++;
      });
      return new WeakRef(target);
    };
    const target = start();
    vi.advanceTimersByTime(100);
    expect(target.deref()?.runs).toBe(1);
    await collectGarbage();
    expect(target.deref()).toBeUndefined();
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(100);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('does not keep the process alive', () => {
    vi.useRealTimers();
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout');
    const before = timers().length;
    const kept = setInterval(() => {}, 1000);
    expect(timers()).toHaveLength(before + 1);
    const end = repeat({}, 1000, () => {});
    expect(timers()).toHaveLength(before + 1);
    clearInterval(kept);
    end();
  });
});

describe('the async context of a request', () => {
  const requests = new AsyncLocalStorage<string>();

  it('is not seen in the background', () => {
    const seen: unknown[] = [];
    const target = {};
    requests.run('a request', () => {
      expect(outsideRequests(() => requests.getStore())).toBeUndefined();
      expect(requests.getStore()).toBe('a request');
      repeat(target, 100, () => seen.push(requests.getStore()));
    });
    vi.advanceTimersByTime(200);
    expect(seen).toEqual([undefined, undefined]);
  });

  it('is not kept by the timer', async () => {
    vi.useRealTimers();
    const bodies = new AsyncLocalStorage<object>();
    const target = {};
    const start = () => {
      const body = { text: 'of a request' };
      const end = bodies.run(body, () => repeat(target, 1000, () => {}));
      return { end, body: new WeakRef(body) };
    };
    const { end, body } = start();
    await collectGarbage();
    expect(body.deref()).toBeUndefined();
    end();
  });
});

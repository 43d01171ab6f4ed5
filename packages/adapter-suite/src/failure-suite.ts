import { memoryStore, type Store } from '@rl/core';
import { describe, expect, test, vi } from 'vitest';
import { ask } from './client.js';
import { expectAllHandled } from './expect-all-handled.js';
import type { AnyOptions, Framework } from './framework.js';
import { useApp } from './use-app.js';

/** A key or cost function that fails, and what the framework's error handling sees of it. */
const FAILURES: readonly [name: string, options: Partial<AnyOptions>, seen: RegExp][] = [
  ['K-11 a key function that throws', { key: () => raise(new Error('no tenant')) }, /no tenant/],
  [
    'K-11 a key function that rejects',
    { key: () => Promise.reject(new Error('no tenant')) },
    /no tenant/,
  ],
  ['a key function that throws nothing', { key: () => raise(undefined) }, /could not be judged/],
  [
    'a key function that rejects with nothing',
    { key: () => Promise.reject() },
    /could not be judged/,
  ],
  ['a key function that throws a word', { key: () => raise('route') }, /judged: route/],
  [
    'a key function that rejects with a word',
    { key: () => Promise.reject('route') },
    /judged: route/,
  ],
  ['a cost that is not a number', { cost: () => Number.NaN }, /cost .* NaN/],
  ['a limit that is not an integer, later', { limit: async () => 1.5 }, /limit .* 1.5/],
  ['policies that throw', { policies: () => raise(new Error('no tier')) }, /no tier/],
  ['a cost below 0, later', { cost: async () => -1 }, /cost .* -1/],
  ['F-09 a store that rejects', { store: brokenStore() }, /the store is down/],
  ['a store that is closed', { store: closedStore() }, /the store is closed/],
];

/** What becomes of errors: 500 by the framework's own way, never a request that goes on. */
export function describeFailures(framework: Framework): void {
  describe('failures', () => {
    const start = useApp(framework);
    expectAllHandled();

    test.each(FAILURES)('%s is an error: 500, and nothing after it runs', async (_, bad, seen) => {
      const onError = vi.fn();
      const onHandled = vi.fn();
      const options = { limit: 5, window: '60s', ...bad } as AnyOptions;
      const app = await start({ limiters: [options], onError, onHandled });
      for (let i = 0; i < 2; i++) {
        const answer = await ask(app);
        expect(answer.status).toBe(500);
        expect(answer.headers).not.toHaveProperty('ratelimit');
      }
      expect(onError).toHaveBeenCalledTimes(2);
      expect(onError.mock.calls[0]?.[0]).toBeInstanceOf(Error);
      expect(onError.mock.calls[0]?.[0].message).toMatch(seen);
      expect(onHandled).not.toHaveBeenCalled();
    });
  });
}

function raise(reason: unknown): never {
  throw reason;
}

function brokenStore(): Store {
  return Object.assign(memoryStore(), {
    tryConsume: () => undefined,
    consume: () => Promise.reject(new Error('the store is down')),
  });
}

function closedStore(): Store {
  const store = memoryStore();
  void store.close();
  return store;
}

import { createLimiter } from '@rl/core';
import { type Options, rateLimit } from 'express-rate-limit';
import { describe, expect, test, vi } from 'vitest';
import { type ExpressRateLimitStoreOptions, toExpressRateLimitStore } from '../src/index.js';
import { useExpress } from './support/express-app.js';

describe('toExpressRateLimitStore with what does not go together', () => {
  const start = useExpress();

  test.each<[ExpressRateLimitStoreOptions, RegExp]>([
    [{ limit: -1 }, /^limit must be an integer of at least 0, got -1$/],
    [{ window: '5x' }, /^window must be .*, got "5x"$/],
    [{ burst: 5 }, /^burst must be left out with fixed-window/],
    [{ algorithm: 'leaky' as never }, /^algorithm must be one of .*, got "leaky"$/],
    [{ name: 'a b' }, /^name must be .*, got "a b"$/],
    [{ store: 5 as never }, /^store must be a store such as .*, got 5$/],
    [{ fallback: 'maybe' as never }, /^fallback must be one of .*, got "maybe"$/],
    [{ max: 5 } as never, /^max is not an option; the options are .*limit/],
    [5 as never, /^options must be an object such as .*, got 5$/],
    [{ limiter: {} as never, policy: 'a' }, /^limiter must be a limiter made by createLimiter/],
  ])('%j', (options, message) => {
    expect(() => toExpressRateLimitStore(options)).toThrow(message);
  });

  test('a policy that the limiter does not have', () => {
    const limiter = createLimiter({ policies: { a: { limit: 1, window: '1s' } } });
    const options = { limiter, policy: 'b' };
    expect(() => toExpressRateLimitStore(options)).toThrow(
      'policy must be the name of a policy of the limiter ("a"), got "b"',
    );
    const both = { limiter, policy: 'a', store: undefined, limit: 5 } as never;
    expect(() => toExpressRateLimitStore(both)).toThrow('limit is not an option');
  });

  test.each<[ExpressRateLimitStoreOptions, Partial<Options>, string]>([
    [{ limit: 5 }, { limit: 6 }, 'limit must be 6, the limit of the middleware, got 5'],
    [
      { window: '10s' },
      { limit: 6, windowMs: 60_000 },
      'window must be 60000 ms, the windowMs of the middleware, got 10000',
    ],
    [
      {},
      { limit: () => 5 },
      'limit must be given where the limit of the middleware is a function: the largest that it gives, got undefined',
    ],
    [
      {},
      { limit: 0, validate: false },
      'limit must be given where the limit of the middleware is 0, as that of express-slow-down always is, got undefined',
    ],
    [
      { limit: 5, algorithm: 'gcra' },
      { limit: () => 5 },
      'algorithm must be one of fixed-window, sliding-window, sliding-log where the limit of the middleware is a function, got "gcra"',
    ],
    [{}, { limit: 1.5 }, 'limit must be an integer of at least 0, got 1.5'],
  ])('%j and a middleware with %j', async (own, options, message) => {
    const error = vi.fn();
    const logger = { warn: vi.fn(), error };
    const store = toExpressRateLimitStore(own);
    const app = await start(rateLimit({ windowMs: 60_000, ...options, logger, store }));
    expect(error.mock.calls[0]?.[0]).toMatchObject({ message });
    expect((await app.ask()).status).toBe(500);
  });

  test('without init there is no limit', async () => {
    await expect(async () => toExpressRateLimitStore().increment('ann')).rejects.toThrow(
      "limit must be given, as init(), which tells the middleware's, was not called, got undefined",
    );
  });

  test('a store that others share cannot be emptied', async () => {
    const limiter = createLimiter({ policies: { a: { limit: 1, window: '1s' } } });
    await expect(toExpressRateLimitStore({ limiter, policy: 'a' }).resetAll()).rejects.toThrow(
      'store must be left out for resetAll',
    );
  });
});

import { expectAllHandled, PATIENT, STORE_KINDS } from '@rl/adapter-suite';
import { createLimiter } from '@rl/core';
import { rateLimit as rlExpress } from '@rl/express';
import type { Request, Response } from 'express';
import { type Options, rateLimit } from 'express-rate-limit';
import { slowDown } from 'express-slow-down';
import { describe, expect, test, vi } from 'vitest';
import { type ExpressRateLimitStoreOptions, toExpressRateLimitStore } from '../src/index.js';
import { useExpress } from './support/express-app.js';
import { useFrozenTime } from './support/frozen-time.js';
import type { Told } from './support/told.js';

type Step = string | number;

/** A path is asked for; a number is time that passes. */
const PLAIN: readonly Step[] = [
  '/',
  '/',
  '/',
  '/',
  '/',
  31_300,
  '/',
  29_000,
  '/',
  '/',
  '/',
  '/',
  '/',
];

describe.each(STORE_KINDS)('toExpressRateLimitStore, %s', (kind) => {
  const start = useExpress();
  const time = useFrozenTime(kind);
  expectAllHandled();

  const ours = (options: ExpressRateLimitStoreOptions = {}) =>
    toExpressRateLimitStore({
      store: time.store(),
      fallback: PATIENT,
      ...options,
    } as ExpressRateLimitStoreOptions);

  /** What an app with these options answers, by our store and by their own. */
  async function expectSame(
    options: Partial<Options>,
    steps: readonly Step[],
    own: ExpressRateLimitStoreOptions = {},
  ): Promise<readonly Told[]> {
    const apps = [
      await start(rateLimit({ ...options, store: ours(own) })),
      await start(rateLimit(options)),
    ];
    const seen: Told[][] = [[], []];
    for (const step of steps) {
      if (typeof step === 'number') time.advance(step);
      else for (const [i, app] of apps.entries()) seen[i]?.push(await app.ask(step));
    }
    expect(seen[0]).toEqual(seen[1]);
    return seen[0] as Told[];
  }

  test.each(['draft-6', 'draft-7', 'draft-8'] as const)(
    'status, headers and body are those of its own store, %s',
    async (standardHeaders) => {
      const seen = await expectSame({ windowMs: 60_000, limit: 3, standardHeaders }, PLAIN);
      const statuses = seen.map(({ status }) => status);
      expect(statuses).toEqual([200, 200, 200, 429, 429, 429, 200, 200, 200, 429, 429]);
    },
  );

  test('skipFailedRequests: a failed request is charged nothing, and a denial brings nothing back', async () => {
    const path = (count: number, one: string): string[] => Array.from({ length: count }, () => one);
    const steps = [...path(5, '/500'), ...path(2, '/'), ...path(3, '/500'), ...path(6, '/')];
    const seen = await expectSame({ windowMs: 60_000, limit: 3, skipFailedRequests: true }, steps);
    const statuses = seen.map(({ status }) => status).join(' ');
    expect(statuses).toBe('500 500 500 500 500 200 200 500 500 500 200 429 429 429 429 429');
  });

  test('skipSuccessfulRequests: failed requests alone are charged', async () => {
    const steps = ['/', '/', '/', '/500', '/', '/500', '/', '/', '/', 61_000, '/', '/500'];
    const seen = await expectSame(
      { windowMs: 60_000, limit: 2, skipSuccessfulRequests: true },
      steps,
    );
    const statuses = seen.map(({ status }) => status).join(' ');
    expect(statuses).toBe('200 200 200 500 200 500 429 429 429 200 500');
  });

  test('a denial that counts as successful brings nothing back either', async () => {
    const options = {
      windowMs: 60_000,
      limit: 2,
      skipFailedRequests: true,
      requestWasSuccessful: (_req: Request, res: Response) => res.statusCode < 500,
    };
    const steps = ['/', '/', '/', '/', '/'];
    await expectSame(options, steps);
  });

  test('a limit for each request: ours is the largest', async () => {
    const limit = (req: Request) => (req.path === '/vip' ? 5 : 2);
    const steps = ['/', '/', '/', '/vip', '/vip', '/vip', '/', 61_000, '/vip', '/'];
    const seen = await expectSame({ windowMs: 60_000, limit }, steps, { limit: 5 });
    const statuses = seen.map(({ status }) => status).join(' ');
    expect(statuses).toBe('200 200 429 200 200 429 429 200 200');
  });

  test('a limit for each request that is above ours denies all the same', async () => {
    const app = await start(
      rateLimit({ windowMs: 60_000, limit: () => 100, store: ours({ limit: 2 }) }),
    );
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push((await app.ask()).status);
    expect(statuses).toEqual([200, 200, 429, 429]);
  });

  test('two replicas share one quota', async () => {
    const apps = await Promise.all(
      time.replicas().map((store) => start(rateLimit({ limit: 3, store: ours({ store }) }))),
    );
    const seen: Told[] = [];
    for (let i = 0; i < 5; i++) seen.push(await (apps[i % 2] as (typeof apps)[0]).ask());
    expect(seen.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429]);
    expect(seen.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual([
      '2',
      '1',
      '0',
      '0',
      '0',
    ]);
  });

  test('the middleware of @rl/express goes on where this one was', async () => {
    const store = time.store();
    const before = await start(rateLimit({ limit: 3, windowMs: 60_000, store: ours({ store }) }));
    for (let i = 0; i < 2; i++) await before.ask();
    const policy = { limit: 3, window: '1m', algorithm: 'fixed-window' } as const;
    const named = { name: 'express-rate-limit', store, fallback: PATIENT };
    const after = await start(rlExpress({ ...policy, ...named }));
    const statuses = [(await after.ask()).status, (await after.ask()).status];
    expect(statuses).toEqual([200, 429]);
    expect((await before.ask()).status).toBe(429);
  });

  test('limiters of two names count one request apart, and none complains', async () => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    const store = time.store();
    const app = await start(
      rateLimit({ limit: 3, logger, store: ours({ store, name: 'long' }) }),
      rateLimit({ limit: 2, windowMs: 1000, logger, store: ours({ store, name: 'short' }) }),
    );
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await app.ask()).status);
    time.advance(1000);
    statuses.push((await app.ask()).status);
    expect(statuses).toEqual([200, 200, 429, 429]);
    expect(logger.error).not.toHaveBeenCalled();
    expect(logger.warn).not.toHaveBeenCalled();
  });

  test('getKey and resetKey', async () => {
    const limiter = rateLimit({ limit: 2, windowMs: 60_000, store: ours() });
    const app = await start(limiter);
    expect(await limiter.getKey('127.0.0.1')).toBeUndefined();
    for (let i = 0; i < 3; i++) await app.ask();
    expect(await limiter.getKey('127.0.0.1')).toEqual({
      totalHits: 2,
      resetTime: new Date(Date.now() + 60_000),
    });
    await limiter.resetKey('127.0.0.1');
    expect(await limiter.getKey('127.0.0.1')).toBeUndefined();
    expect((await app.ask()).status).toBe(200);
  });

  test('another algorithm: what is told is what it decides', async () => {
    const own = { algorithm: 'token-bucket', burst: 2 } as const;
    const options = { limit: 60, windowMs: 60_000, standardHeaders: 'draft-7' } as const;
    const app = await start(rateLimit({ ...options, store: ours(own) }));
    const seen = [await app.ask(), await app.ask(), await app.ask()];
    time.advance(1000);
    seen.push(await app.ask());
    expect(seen.map(({ status }) => status)).toEqual([200, 200, 429, 200]);
    expect(seen[2]?.headers).toMatchObject({ 'retry-after': '1' });
  });

  test('a policy of a limiter', async () => {
    const policies = { api: { limit: 2, window: '1m', algorithm: 'sliding-log' } } as const;
    const limiter = createLimiter({ store: time.store(), policies, fallback: PATIENT });
    const store = toExpressRateLimitStore({ limiter, policy: 'api' });
    const app = await start(rateLimit({ limit: 2, windowMs: 60_000, store }));
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await app.ask()).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect((await limiter.peek({ api: '127.0.0.1' })).remaining).toBe(0);
    await store.shutdown();
    expect((await limiter.peek({ api: '127.0.0.1' })).remaining).toBe(0);
  });

  test('leases: what is told never denies what the policy allows', async () => {
    const store = ours({ limit: 50, window: '1h', lease: true });
    const denied: boolean[] = [];
    for (let i = 0; i < 60; i++) denied.push((await store.increment('ann')).totalHits > 50);
    expect(denied).toEqual(Array.from({ length: 60 }, (_, i) => i >= 50));
    await store.shutdown();
  });

  test('express-slow-down delays as by its own store, up to our limit', async () => {
    const used: number[][] = [[], []];
    for (const [i, store] of [ours({ limit: 4 }), undefined].entries()) {
      const options = { windowMs: 60_000, delayAfter: 2, delayMs: () => 1 };
      const app = await start(
        slowDown({ ...options, ...(store && { store }) }),
        (req, _res, next) => {
          used[i]?.push((req as unknown as { slowDown: { used: number } }).slowDown.used);
          next();
        },
      );
      for (let n = 0; n < 6; n++) expect((await app.ask()).status).toBe(200);
    }
    expect(used).toEqual([
      [1, 2, 3, 4, 5, 5],
      [1, 2, 3, 4, 5, 6],
    ]);
  });
});

describe('toExpressRateLimitStore in memory of its own', () => {
  test('resetAll forgets all, and shutdown ends it', async () => {
    const store = toExpressRateLimitStore({ limit: 1, window: '1m' });
    expect(store).toMatchObject({ localKeys: true, prefix: 'express-rate-limit:' });
    expect(await store.increment('ann')).toMatchObject({ totalHits: 1 });
    expect(await store.increment('ann')).toMatchObject({ totalHits: 2 });
    await store.resetAll();
    expect(await store.increment('ann')).toMatchObject({ totalHits: 1 });
    await store.shutdown();
    await expect(async () => store.increment('ann')).rejects.toThrow('the limiter is closed');
  });

  test('a replica that has none decides at once', () => {
    const store = toExpressRateLimitStore({ limit: 1, window: '1m' });
    expect(store.increment('ann')).not.toBeInstanceOf(Promise);
  });
});

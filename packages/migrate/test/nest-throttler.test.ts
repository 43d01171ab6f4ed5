import { expectAllHandled, PATIENT, STORE_KINDS, useLostRedis } from '@rl/adapter-suite';
import { createLimiter, memoryStore } from '@rl/core';
import { describe, expect, test } from 'vitest';
import {
  type NestThrottlerStorage,
  type NestThrottlerStorageOptions,
  toNestThrottlerStorage,
} from '../src/index.js';
import { useFrozenTime } from './support/frozen-time.js';
import { type NestPlan, useNest } from './support/nest-app.js';
import type { Told } from './support/told.js';

type Step = string | number;

describe.each(STORE_KINDS)('toNestThrottlerStorage, %s', (kind) => {
  const start = useNest();
  const time = useFrozenTime(kind);
  expectAllHandled();

  const ours = (options: NestThrottlerStorageOptions = {}) =>
    toNestThrottlerStorage({
      store: time.store(),
      fallback: PATIENT,
      ...options,
    } as NestThrottlerStorageOptions);

  /**
   * What an app answers, by our storage and by the module's own, whose X-RateLimit-Reset tells after a
   * block when the window before it would have ended.
   */
  async function expectSame(plan: NestPlan, steps: readonly Step[]): Promise<string> {
    const apps = [await start({ ...plan, storage: ours() }), await start(plan)];
    const seen: Told[][] = [[], []];
    for (const step of steps) {
      if (typeof step === 'number') time.advance(step);
      else for (const [i, app] of apps.entries()) seen[i]?.push(await app.ask(step));
    }
    expect(seen[0]?.map(withoutReset)).toEqual(seen[1]?.map(withoutReset));
    const first = seen.map((all) =>
      all.slice(
        0,
        all.findIndex(({ status }) => status !== 200),
      ),
    );
    expect(first[0]).toEqual(first[1]);
    return (seen[0] as Told[]).map(({ status }) => status).join(' ');
  }

  test('a client that was denied waits for a whole ttl, as by the storage of its own', async () => {
    const steps = [
      '/',
      '/',
      30_000,
      '/',
      '/',
      29_000,
      '/',
      2_000,
      '/',
      28_500,
      '/',
      1000,
      '/',
      '/',
    ];
    const plan = { throttlers: [{ ttl: 60_000, limit: 2 }] };
    expect(await expectSame(plan, steps)).toBe('200 200 429 429 429 429 429 200 200');
  });

  test('a blockDuration that is longer than the ttl, or shorter', async () => {
    const long = { throttlers: [{ ttl: 1000, limit: 1, blockDuration: 5000 }] };
    const steps = ['/', '/', 1000, '/', 3000, '/', 999, '/', 1, '/', '/'];
    expect(await expectSame(long, steps)).toBe('200 429 429 429 429 200 429');
    const short = await start({
      throttlers: [{ ttl: 60_000, limit: 2, blockDuration: 1000 }],
      storage: ours(),
    });
    const seen: Told[] = [];
    for (let i = 0; i < 2; i++) {
      for (let n = 0; n < 4; n++) seen.push(await short.ask());
      time.advance(1000);
    }
    expect(seen.map(({ status }) => status).join(' ')).toBe('200 200 429 429 200 200 429 429');
    expect(seen[2]?.headers).toMatchObject({ 'retry-after': '1' });
    expect(seen[4]?.headers).toMatchObject({ 'x-ratelimit-remaining': '1' });
  });

  test('blockDuration 0: denied until the window ends', async () => {
    const plan = { throttlers: [{ ttl: 60_000, limit: 2, blockDuration: 0 }] };
    const steps = ['/', '/', '/', 30_000, '/', 29_999, '/', 1, '/', '/', '/'];
    expect(await expectSame(plan, steps)).toBe('200 200 429 429 429 200 200 429');
  });

  test('throttlers of several names, and routes with limits of their own, are counted apart', async () => {
    const plan = {
      throttlers: [
        { name: 'short', ttl: 1000, limit: 2 },
        { name: 'long', ttl: 60_000, limit: 4 },
      ],
      routes: [
        { path: '/' },
        { path: '/one', throttle: { short: { limit: 1, ttl: 5000 } } },
        { path: '/none', throttle: { long: { limit: 0 } } },
      ],
    };
    const steps = ['/', '/', '/', '/one', '/one', '/none', 1000, '/', '/', 1000, '/', '/one'];
    expect(await expectSame(plan, steps)).toBe('200 200 429 200 429 429 200 200 429 429');
  });

  test('two replicas share one quota, and what a client has to wait', async () => {
    const throttlers = [{ ttl: 1000, limit: 3, blockDuration: 10_000 }];
    const [first, second] = await Promise.all(
      time.replicas().map((store) => start({ throttlers, storage: ours({ store }) })),
    );
    const statuses: (number | undefined)[] = [];
    for (let i = 0; i < 2; i++) {
      statuses.push((await first?.ask())?.status, (await second?.ask())?.status);
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
    time.advance(5000);
    expect(await first?.ask()).toMatchObject({ status: 429, headers: { 'retry-after': '5' } });
    time.advance(5000);
    // What was charged and found that the client has to wait was put back.
    for (let i = 0; i < 3; i++) expect((await first?.ask())?.status).toBe(200);
    expect((await second?.ask())?.status).toBe(429);
  });

  test('calls at once: exactly the limit passes, and all others wait', async () => {
    const storage = ours();
    const all = await Promise.all(
      Array.from({ length: 20 }, () => storage.increment('ann', 1000, 5, 3000, 'default')),
    );
    expect(all.filter(({ isBlocked }) => !isBlocked).map(({ totalHits }) => totalHits)).toEqual([
      1, 2, 3, 4, 5,
    ]);
    const denied = { totalHits: 6, timeToExpire: 3, isBlocked: true, timeToBlockExpire: 3 };
    expect(all.filter(({ isBlocked }) => isBlocked)).toEqual(
      Array.from({ length: 15 }, () => denied),
    );
  });

  test('keys of two throttlers are apart, where a key of the app does not say so', async () => {
    const storage = ours();
    expect(await storage.increment('ann', 1000, 1, 0, 'a')).toMatchObject({ isBlocked: false });
    expect(await storage.increment('ann', 1000, 1, 0, 'b')).toMatchObject({ isBlocked: false });
    expect(await storage.increment('ann', 1000, 1, 0, 'a')).toMatchObject({ isBlocked: true });
  });

  test('a limit of Infinity denies nothing', async () => {
    const record = await ours().increment('ann', 1000, Number.POSITIVE_INFINITY, 1000, 'default');
    expect(record).toEqual({
      totalHits: 1,
      timeToExpire: 1,
      isBlocked: false,
      timeToBlockExpire: 0,
    });
  });

  test('shadow: nobody is denied, and nobody has to wait', async () => {
    const storage = ours({ shadow: true });
    for (let i = 0; i < 3; i++) {
      const record = await storage.increment('ann', 1000, 1, 1000, 'default');
      expect(record.isBlocked).toBe(false);
    }
  });

  test('policies of a limiter', async () => {
    const policies = {
      api: { limit: 9, window: '1h', algorithm: 'sliding-log' },
      wait: { limit: 1, window: '1h', algorithm: 'fixed-window' },
    } as const;
    const limiter = createLimiter({ store: time.store(), policies, fallback: PATIENT });
    const storage = toNestThrottlerStorage({ limiter, policy: 'api', blockPolicy: 'wait' });
    const app = await start({
      throttlers: [{ ttl: 1000, limit: 1, blockDuration: 3000 }],
      storage,
    });
    const seen = [await app.ask(), await app.ask()];
    expect(seen.map(({ status }) => status)).toEqual([200, 429]);
    expect(seen[1]?.headers).toMatchObject({ 'retry-after': '3' });
    await app.close();
    expect((await limiter.peek({ api: 'ann' })).remaining).toBe(9);
  });
});

describe('toNestThrottlerStorage', () => {
  const start = useNest();

  test('ends with the app, and leaves a store that was given open', async () => {
    const store = memoryStore();
    const storage = toNestThrottlerStorage({ store });
    const app = await start({ throttlers: [{ ttl: 1000, limit: 1 }], storage });
    await app.ask();
    await app.close();
    await expect(storage.increment('ann', 1000, 1, 0, 'a')).rejects.toThrow(
      'the limiter is closed',
    );
    expect(store.size).toBeGreaterThan(0);
    const next = createLimiter({ store, policies: { a: { limit: 1, window: '1s' } } });
    expect((await next.consume({ a: 'ann' })).allowed).toBe(true);
  });

  test.each<[NestThrottlerStorageOptions, RegExp]>([
    [{ window: '1m' } as never, /^window is not an option; the options are /],
    [{ name: '' }, /^name must be 1 to 64 letters.*, got ""$/],
    [{ algorithm: 'gcra', lease: true }, /^lease must be left out with gcra/],
    [
      { limiter: 5 as never, policy: 'a' },
      /^limiter must be a limiter made by createLimiter, got 5$/,
    ],
  ])('%j cannot be used', (options, message) => {
    expect(() => toNestThrottlerStorage(options)).toThrow(message);
  });

  test('a policy to wait by that is not there, or is needed and not named', async () => {
    const limiter = createLimiter({ policies: { a: { limit: 1, window: '1s' } } });
    expect(() => toNestThrottlerStorage({ limiter, policy: 'a', blockPolicy: 'b' })).toThrow(
      'blockPolicy must be the name of a policy of the limiter ("a"), got "b"',
    );
    const storage = toNestThrottlerStorage({ limiter, policy: 'a' });
    await expect(storage.increment('ann', 1000, 1, 5, 'default')).rejects.toThrow(
      /^blockPolicy must be the name of a policy .* \(it is 5 ms; left out, it is the ttl\), or blockDuration 0, got undefined$/,
    );
    expect(await storage.increment('ann', 1000, 1, 0, 'default')).toMatchObject({ totalHits: 1 });
  });

  test.each<[Parameters<NestThrottlerStorage['increment']>, string]>([
    [['', 1000, 1, 0, 'a'], 'key must be a text that is not empty, got ""'],
    [['ann', 0, 1, 0, 'a'], 'ttl must be an integer of at least 1, got 0'],
    [['ann', 1.5, 1, 0, 'a'], 'ttl must be an integer of at least 1, got 1.5'],
    [['ann', 1000, -1, 0, 'a'], 'limit must be an integer of at least 0, got -1'],
    [['ann', 1000, 1, 2.5, 'a'], 'blockDuration must be an integer of at least 1, got 2.5'],
  ])('a call with %j cannot be decided', async (args, message) => {
    await expect(toNestThrottlerStorage().increment(...args)).rejects.toThrow(message);
  });
});

describe('toNestThrottlerStorage while Redis does not answer', () => {
  const start = useNest();
  const redis = useLostRedis();
  expectAllHandled();

  test.each(['refuses', 'is silent'] as const)('it %s: each replica has its share', async (how) => {
    await redis.lose(how);
    const fallback = { replicas: 2, onEvent: () => {} };
    const storage = toNestThrottlerStorage({ store: redis.open(), fallback });
    const app = await start({ throttlers: [{ ttl: 60_000, limit: 4 }], storage });
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) statuses.push((await app.ask()).status);
    expect(statuses).toEqual([200, 200, 429, 429]);
  });

  test('a client that was denied meanwhile does not wait for longer than its window', async () => {
    await redis.lose('refuses');
    const fallback = { replicas: 4, onEvent: () => {} };
    const storage = toNestThrottlerStorage({ store: redis.open(), fallback });
    const ask = () => storage.increment('ann', 60_000, 4, 600_000, 'default');
    expect((await ask()).isBlocked).toBe(false);
    const denied = await ask();
    expect(denied.isBlocked).toBe(true);
    expect(denied.timeToBlockExpire).toBeLessThanOrEqual(60);
  });

  test('closed: all are denied, and told to come back soon', async () => {
    await redis.lose('refuses');
    const fallback = { mode: 'closed', onEvent: () => {} } as const;
    const storage = toNestThrottlerStorage({ store: redis.open(), fallback });
    const record = await storage.increment('ann', 60_000, 4, 600_000, 'default');
    expect(record).toEqual({
      totalHits: 5,
      timeToExpire: 1,
      isBlocked: true,
      timeToBlockExpire: 1,
    });
  });
});

function withoutReset({ headers, ...others }: Told): Told {
  const kept = Object.entries(headers).filter(([name]) => !name.startsWith('x-ratelimit-reset'));
  return { ...others, headers: Object.fromEntries(kept) };
}

import fastifyRateLimit, { type RateLimitPluginOptions } from '@fastify/rate-limit';
import {
  type Answer,
  ask,
  expectAllHandled,
  PATIENT,
  STORE_KINDS,
  type Target,
  useLostRedis,
} from '@rl/adapter-suite';
import { createLimiter } from '@rl/core';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, describe, expect, test } from 'vitest';
import { type FastifyRateLimitStoreOptions, toFastifyRateLimitStore } from '../src/index.js';
import { useFrozenTime } from './support/frozen-time.js';
import { type Told, toldBy } from './support/told.js';

interface RunningApp {
  ask(path?: string, headers?: Answer['headers']): Promise<Told>;
}

/** Starts apps that end with their test. */
function useApps() {
  const running: FastifyInstance[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((app) => app.close()));
  });
  return async (
    options: RateLimitPluginOptions,
    addRoutes: (app: FastifyInstance) => void = (app) => {
      app.get('/', async () => 'handled');
    },
  ): Promise<RunningApp> => {
    const app = Fastify();
    running.push(app);
    await app.register(fastifyRateLimit, options);
    addRoutes(app);
    await app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.address() as { port: number };
    const target: Target = { host: '127.0.0.1', port };
    return {
      ask: async (path = '/', headers = {}) => toldBy(await ask(target, { path, headers })),
    };
  };
}

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

describe.each(STORE_KINDS)('toFastifyRateLimitStore, %s', (kind) => {
  const start = useApps();
  const time = useFrozenTime(kind);
  expectAllHandled();

  const ours = (options: FastifyRateLimitStoreOptions = {}) =>
    toFastifyRateLimitStore({
      store: time.store(),
      fallback: PATIENT,
      ...options,
    } as FastifyRateLimitStoreOptions);

  /** What an app answers, by our store and by the plugin's own. */
  async function expectSame(
    options: RateLimitPluginOptions,
    steps: readonly Step[],
    addRoutes?: (app: FastifyInstance) => void,
  ): Promise<readonly Told[]> {
    const apps = [
      await start({ ...options, store: ours() }, addRoutes),
      await start(options, addRoutes),
    ];
    const seen: Told[][] = [[], []];
    for (const step of steps) {
      if (typeof step === 'number') time.advance(step);
      else for (const [i, app] of apps.entries()) seen[i]?.push(await app.ask(step));
    }
    expect(seen[0]).toEqual(seen[1]);
    return seen[0] as Told[];
  }
  const statusesOf = (seen: readonly Told[]) => seen.map(({ status }) => status).join(' ');

  test.each<[string, RateLimitPluginOptions]>([
    ['by default', {}],
    ['enableDraftSpec', { enableDraftSpec: true }],
    ['ban: 0', { ban: 0 }],
    ['a max for each request', { max: async () => 3, timeWindow: () => 60_000 }],
  ])('status, headers and body are those of its own store: %s', async (_, options) => {
    const seen = await expectSame({ max: 3, timeWindow: '1 minute', ...options }, PLAIN);
    const denied = options.ban === 0 ? '403' : '429';
    const expected = '200 200 200 429 429 429 200 200 200 429 429';
    expect(statusesOf(seen)).toBe(expected.replaceAll('429', denied));
  });

  test('max 0 denies all, a max of Infinity nothing', async () => {
    const none = await expectSame({ max: 0 }, ['/', '/']);
    expect(statusesOf(none)).toBe('429 429');
    const app = await start({ max: () => Number.POSITIVE_INFINITY, store: ours() });
    expect(statusesOf([await app.ask(), await app.ask()])).toBe('200 200');
  });

  test('routes with limits of their own are counted apart', async () => {
    const addRoutes = (app: FastifyInstance) => {
      const of = (max: number, timeWindow = 60_000) => ({
        config: { rateLimit: { max, timeWindow } },
      });
      app.get('/', async () => 'handled');
      app.get('/one', of(1), async () => 'one');
      app.get('/two', of(2), async () => 'two');
      app.get('/short', of(1, 1000), async () => 'short');
      app.get('/of-no-limit', { config: { rateLimit: false } }, async () => 'free');
      const shared = app.rateLimit({ max: 2, timeWindow: 60_000 });
      app.get('/made', { config: { rateLimit: false }, preHandler: shared }, async () => 'made');
    };
    const steps = [
      ...['/one', '/one', '/two', '/', '/two', '/two', '/', '/', '/', '/short', '/short'],
      ...['/of-no-limit', '/made', '/made', '/made', 1000, '/short', '/one'],
    ];
    const seen = await expectSame({ max: 3, timeWindow: 60_000 }, steps, addRoutes);
    expect(statusesOf(seen)).toBe(
      '200 429 200 200 200 429 200 200 429 200 429 200 200 200 429 200 429',
    );
  });

  test('a group of routes shares one limit where they have the same', async () => {
    const rateLimit = { max: 2, timeWindow: 60_000, groupId: 'search' };
    const addRoutes = (app: FastifyInstance) => {
      app.get('/a', { config: { rateLimit } }, async () => 'a');
      app.get('/b', { config: { rateLimit } }, async () => 'b');
    };
    await expectSame({ global: false }, ['/a', '/a', '/a', '/b', '/b', '/b'], addRoutes);
  });

  test('createRateLimit with increment: false looks, and charges nothing', async () => {
    const addRoutes = (app: FastifyInstance) => {
      const check = app.createRateLimit({ max: 2, timeWindow: 60_000 });
      app.get('/look', async (req) => check(req, { increment: false }));
      app.get('/take', async (req) => check(req));
    };
    const steps = ['/look', '/take', '/look', '/take', '/look', 60_000, '/look'];
    const seen = await expectSame({ global: false }, steps, addRoutes);
    expect(seen.map(({ body }) => JSON.parse(body).remaining)).toEqual([2, 1, 1, 0, 0, 2]);
  });

  test('keys that are numbers, and keys that look like those of a route', async () => {
    const options = {
      max: 1,
      timeWindow: 60_000,
      store: ours(),
      keyGenerator: (req: { headers: Record<string, unknown> }) =>
        Number(req.headers['x-key']) || String(req.headers['x-key']),
    };
    const app = await start(options, (one) => {
      one.get('/', async () => 'handled');
      one.get('/x', { config: { rateLimit: { max: 1 } } }, async () => 'x');
    });
    const seen = [
      await app.ask('/', { 'x-key': '7' }),
      await app.ask('/', { 'x-key': '7' }),
      await app.ask('/x', { 'x-key': 'ann' }),
      await app.ask('/', { 'x-key': 'GET /x|ann' }),
    ];
    expect(statusesOf(seen)).toBe('200 429 200 200');
  });

  test('two replicas share one quota', async () => {
    const apps = await Promise.all(
      time.replicas().map((store) => start({ max: 3, store: ours({ store }) })),
    );
    const seen: Told[] = [];
    for (let i = 0; i < 5; i++) seen.push(await (apps[i % 2] as RunningApp).ask());
    expect(statusesOf(seen)).toBe('200 200 200 429 429');
  });

  test('a policy of a limiter, by values of the plugin', async () => {
    const policies = { api: { limit: 9, window: '1h', algorithm: 'sliding-log' } } as const;
    const limiter = createLimiter({ store: time.store(), policies, fallback: PATIENT });
    const store = toFastifyRateLimitStore({ limiter, policy: 'api' });
    const app = await start({ max: 1, timeWindow: 1000, store });
    const seen = [await app.ask(), await app.ask()];
    time.advance(1000);
    seen.push(await app.ask());
    expect(statusesOf(seen)).toBe('200 429 200');
    await store.close();
    expect((await limiter.peek({ api: '127.0.0.1' })).limit).toBe(9);
  });
});

describe('toFastifyRateLimitStore with what cannot be used', () => {
  const start = useApps();

  test.each<[FastifyRateLimitStoreOptions, RegExp]>([
    [{ limit: 5 } as never, /^limit is not an option; the options are /],
    [{ burst: 5 }, /^burst must be left out with fixed-window/],
    [{ burst: 0, algorithm: 'gcra' }, /^burst must be an integer of at least 1, got 0$/],
    [{ store: {} as never }, /^store must be a store such as /],
  ])('%j', (options, message) => {
    expect(() => toFastifyRateLimitStore(options)).toThrow(message);
  });

  test.each<[RateLimitPluginOptions, string]>([
    [{ ban: 2 }, 'ban must be left out with this store'],
    [{ continueExceeding: true }, 'continueExceeding must be left out with this store'],
    [{ exponentialBackoff: true }, 'exponentialBackoff must be left out with this store'],
  ])('an app with %j does not start', async (options, message) => {
    const store = toFastifyRateLimitStore();
    await expect(start({ ...options, store })).rejects.toThrow(message);
    const onRoute = (app: FastifyInstance): void => {
      app.get('/', { config: { rateLimit: options } }, async () => 'handled');
    };
    await expect(start({ store }, onRoute)).rejects.toThrow(message);
  });

  test.each<[RateLimitPluginOptions, string]>([
    [{ max: () => 1.5 }, 'max must be an integer of at least 0, got 1.5'],
    [{ timeWindow: 0 }, 'timeWindow must be an integer of at least 1, got 0'],
    [{ keyGenerator: () => '' }, 'key must be a text that is not empty, got ""'],
  ])('a request to an app with %j fails, and says why', async (options, message) => {
    const app = await start({ ...options, store: toFastifyRateLimitStore() });
    const { status, body } = await app.ask();
    expect(status).toBe(500);
    expect(JSON.parse(body).message).toBe(message);
  });
});

describe('toFastifyRateLimitStore while Redis does not answer', () => {
  const start = useApps();
  const redis = useLostRedis();
  expectAllHandled();

  test.each(['refuses', 'is silent'] as const)('it %s: each replica has its share', async (how) => {
    await redis.lose(how);
    const fallback = { replicas: 2, onEvent: () => {} };
    const app = await start({
      max: 4,
      store: toFastifyRateLimitStore({ store: redis.open(), fallback }),
    });
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) statuses.push((await app.ask()).status);
    expect(statuses).toEqual([200, 200, 429, 429]);
  });
});

import theirs from '@fastify/rate-limit';
import { createLimiter } from '@rl/core';
import type { FastifyRequest } from 'fastify';
import { describe, expect, test, vi } from 'vitest';
import { type Hook, rateLimit, rateLimitHook } from '../src/index.js';
import { injectInTurn, leftIn, useApps } from './new-apps.js';

const newApp = useApps();
const STRICT = { limit: 1, window: '60s' } as const;
const HOOKS: readonly Hook[] = ['onRequest', 'preParsing', 'preValidation', 'preHandler'];

/** The last of the hooks that have run before this one. */
const SEEN = Symbol('the hook that was seen last');
type Seen = FastifyRequest & { [SEEN]?: string };

describe('the hook in which requests are charged', () => {
  const observed = () => {
    const app = newApp();
    const key = vi.fn((request: FastifyRequest) => (request as Seen)[SEEN]);
    for (const name of HOOKS) {
      // preParsing has one argument more, and done is the last of them.
      app.addHook(name as 'onRequest', (request, _reply, ...rest: unknown[]) => {
        (request as Seen)[SEEN] = name;
        (rest.at(-1) as () => void)();
      });
    }
    return { app, key };
  };

  test.each(HOOKS)('of the plugin: %s', async (hook) => {
    const { app, key } = observed();
    await app.register(rateLimit, { ...STRICT, key, hook });
    app.post('/', (request) => request.body);
    const question = { method: 'POST', url: '/', payload: { a: 1 } } as const;
    const allowed = await app.inject(question);
    expect([allowed.statusCode, allowed.json()]).toEqual([200, { a: 1 }]);
    expect((await app.inject(question)).statusCode).toBe(429);
    expect(key.mock.results.map(({ value }) => value)).toEqual([hook, hook]);
  });

  test.each(HOOKS)('of a route, whatever that of the plugin: %s', async (hook) => {
    const { app, key } = observed();
    await app.register(rateLimit, { limit: 9, window: '60s', hook: 'preValidation' });
    const own = vi.fn((_request: unknown, _reply: unknown, ...rest: unknown[]) =>
      (rest.at(-1) as () => void)(),
    );
    app.post('/', { config: { rl: { ...STRICT, key, hook } }, [hook]: own }, () => 'ok');
    expect(await injectInTurn(app, 2, '/', 'POST')).toEqual([200, 429]);
    expect(key.mock.results.map(({ value }) => value)).toEqual([hook, hook]);
    // The route's own run first, whatever they are: one that finds the user, say.
    expect(own).toHaveBeenCalledTimes(2);
  });

  test('a key of the body: logins by name, once the body is there', async () => {
    const app = newApp();
    await app.register(rateLimit, { global: false, hook: 'preValidation' });
    const key = async ({ body }: FastifyRequest) => (body as { user: string }).user;
    app.post('/login', { config: { rl: { ...STRICT, key } } }, () => 'ok');
    const statuses: number[] = [];
    for (const user of ['ann', 'bob', 'ann']) {
      const { statusCode } = await app.inject({ method: 'POST', url: '/login', payload: { user } });
      statuses.push(statusCode);
    }
    expect(statuses).toEqual([200, 200, 429]);
  });
});

describe('rateLimitHook', () => {
  test('F-03 limits unknown paths, though nothing is registered, however early', async () => {
    const app = newApp();
    app.setNotFoundHandler(
      { preHandler: rateLimitHook(app, { limit: 5, window: '60s' }) },
      (_request, reply) => reply.code(404).send('nothing here'),
    );
    app.get('/', () => 'ok');
    const statuses = await injectInTurn(app, 10, '/unknown');
    expect(statuses).toEqual([404, 404, 404, 404, 404, 429, 429, 429, 429, 429]);
    expect(await injectInTurn(app, 1)).toEqual([200]);
  });

  test('F-03 so it does beside a plugin, whose limit holds there too', async () => {
    const app = newApp();
    const preHandler = rateLimitHook(app, { ...STRICT, name: 'unknown' });
    app.setNotFoundHandler({ preHandler }, (_request, reply) => reply.code(404).send());
    app.register(rateLimit, { limit: 3, window: '60s' });
    app.get('/', () => 'ok');
    expect(await injectInTurn(app, 2, '/unknown')).toEqual([404, 429]);
    expect(await injectInTurn(app, 2)).toEqual([200, 429]);
  });

  test('F-03 unknown paths within a prefix have the limit of its context', async () => {
    const app = newApp();
    app.register(
      async (child) => {
        const preValidation = rateLimitHook(child, STRICT);
        child.setNotFoundHandler({ preValidation }, (_request, reply) => reply.code(404).send());
      },
      { prefix: '/api' },
    );
    expect(await injectInTurn(app, 2, '/api/unknown')).toEqual([404, 429]);
    expect(await injectInTurn(app, 2, '/unknown')).toEqual([404, 404]);
  });

  test.each(HOOKS)('is a hook of one route: %s', async (hook) => {
    const app = newApp();
    app.get('/', { [hook]: [rateLimitHook(app, STRICT)] }, () => 'ok');
    app.get('/other', () => 'ok');
    expect(await injectInTurn(app, 2)).toEqual([200, 429]);
    expect(await injectInTurn(app, 2, '/other')).toEqual([200, 200]);
  });

  test('is a hook of a context', async () => {
    const app = newApp();
    app.addHook('onRequest', rateLimitHook(app, STRICT));
    app.get('/', () => 'ok');
    expect(await injectInTurn(app, 2)).toEqual([200, 429]);
  });

  test('refuses what cannot be used at once, and closes what it made with the app', async () => {
    const app = newApp();
    expect(() => rateLimitHook(app, { limit: 1.5, window: '60s' })).toThrow('limit must be');
    const limiter = createLimiter({ policies: { a: STRICT } });
    const close = vi.spyOn(limiter, 'close');
    rateLimitHook(app, { limiter, keys: () => ({ a: 'ann' }) });
    const made = rateLimitHook(app, STRICT);
    await app.close();
    // That of the app is the app's to close.
    expect(close).not.toHaveBeenCalled();
    const next = vi.fn();
    const request = { raw: { method: 'GET', headers: {} }, ip: '192.0.2.1', headers: {} };
    expect(() => made(request as never, {} as never, next)).toThrow('the limiter is closed');
    expect(next).not.toHaveBeenCalled();
  });
});

describe('contexts within contexts', () => {
  test('F-05 the limits of a parent, of a child and of a route each count a request once', async () => {
    const app = newApp();
    await app.register(rateLimit, { limit: 10, window: '60s' });
    await app.register(async (child) => {
      await child.register(rateLimit, { limit: 10, window: '60s', name: 'child' });
      child.get('/', { config: { rl: { limit: 10, window: '60s' } } }, () => 'ok');
    });
    app.get('/outside', { config: { rl: { limit: 10, window: '60s' } } }, () => 'ok');
    expect(await injectInTurn(app, 2)).toEqual([200, 200]);
    expect(leftIn((await app.inject('/')).headers)).toEqual({ default: 7, child: 7, GET: 7 });
    expect(leftIn((await app.inject('/outside')).headers)).toEqual({
      default: 6,
      'GET-outside': 9,
    });
  });

  test('F-05 so do two plugins in one context, wherever the route is declared', async () => {
    const app = newApp();
    const rl = { limit: 10, window: '60s' } as const;
    app.get('/before', { config: { rl } }, () => 'ok');
    await app.register(rateLimit, { limit: 10, window: '60s', name: 'a' });
    app.get('/between', { config: { rl } }, () => 'ok');
    await app.register(rateLimit, { limit: 10, window: '60s', name: 'b' });
    app.get('/after', { config: { rl } }, () => 'ok');
    for (const [i, name] of ['before', 'between', 'after'].entries()) {
      const { headers } = await app.inject(`/${name}`);
      expect(leftIn(headers)).toEqual({ a: 9 - i, b: 9 - i, [`GET-${name}`]: 9 });
    }
  });

  test('F-02 a route goes by the nearest plugin around it', async () => {
    const app = newApp();
    await app.register(rateLimit, { global: false, body: 'text', key: () => 'everybody' });
    await app.register(async (child) => {
      await child.register(rateLimit, { global: false, body: 'json' });
      child.get('/near', { config: { rl: STRICT } }, () => 'ok');
    });
    await app.register(async (child) => {
      child.get('/far', { config: { rl: STRICT } }, () => 'ok');
    });
    const denied = async (url: string) => {
      await app.inject({ url, remoteAddress: '192.0.2.1' });
      return app.inject({ url, remoteAddress: '192.0.2.2' });
    };
    expect((await denied('/near')).statusCode).toBe(200);
    expect((await app.inject({ url: '/near', remoteAddress: '192.0.2.1' })).json()).toMatchObject({
      statusCode: 429,
    });
    expect((await denied('/far')).headers['content-type']).toMatch(/^text\/plain/);
  });

  test('F-02 a route with a trailing slash is the same one, with a prefix', async () => {
    const app = newApp();
    await app.register(rateLimit, { global: false });
    await app.register(
      async (child) => {
        child.get('/', { config: { rl: STRICT } }, () => 'ok');
      },
      { prefix: '/users' },
    );
    expect(await injectInTurn(app, 1, '/users')).toEqual([200]);
    expect(await injectInTurn(app, 1, '/users/')).toEqual([429]);
    expect(await injectInTurn(app, 1, '/users', 'HEAD')).toEqual([429]);
  });

  test('F-02 @fastify/rate-limit may be in the same app', async () => {
    const app = newApp();
    await app.register(theirs, { max: 2, timeWindow: 60_000 });
    await app.register(rateLimit, { limit: 3, window: '60s', headers: 'draft-11' });
    app.get('/', () => 'ok');
    app.get(
      '/ours',
      { config: { rl: { ...STRICT, override: true }, rateLimit: false } },
      () => 'ok',
    );
    app.get('/theirs', { config: { rl: false, rateLimit: { max: 1 } } }, () => 'ok');
    expect(await injectInTurn(app, 3)).toEqual([200, 200, 429]);
    expect(await injectInTurn(app, 2, '/ours')).toEqual([200, 429]);
    expect(await injectInTurn(app, 2, '/theirs')).toEqual([200, 429]);
  });
});

test('a reply that a hook before it has hijacked is left to that, and not charged', async () => {
  const app = newApp();
  const key = vi.fn(() => 'ann');
  app.addHook('onRequest', (_request, reply, done) => {
    reply.hijack();
    reply.raw.writeHead(202).end('raw');
    done();
  });
  await app.register(rateLimit, { ...STRICT, key });
  app.get('/', { config: { rl: STRICT } }, () => 'ok');
  const answer = await app.inject('/');
  expect([answer.statusCode, answer.body]).toEqual([202, 'raw']);
  expect(key).not.toHaveBeenCalled();
});

import { PATIENT, STORE_KINDS, useStores, useWarnings } from '@rl/adapter-suite';
import { createLimiter, memoryStore } from '@rl/core';
import { describe, expect, test, vi } from 'vitest';
import { type PluginOptions, type RouteRateLimitOptions, rateLimit } from '../src/index.js';
import { injectInTurn, leftIn, useApps } from './new-apps.js';

const newApp = useApps();
const STRICT = { limit: 1, window: '60s' } as const;

/** What registration says of a route's options. */
async function refusalOf(
  config: unknown,
  plugin: PluginOptions = { limit: 9, window: '60s' },
): Promise<Error> {
  const app = newApp();
  await app.register(rateLimit, plugin);
  try {
    app.get('/x', { config: { rl: config as RouteRateLimitOptions } }, () => 'ok');
  } catch (error) {
    return error as Error;
  }
  throw new Error('it was not refused');
}

describe.each(STORE_KINDS)('a limit of a route, on a %s store', (kind) => {
  const stores = useStores(kind);

  test('F-05 it is charged beside that of the context: each once for a request', async () => {
    const app = newApp();
    const { store, countBuckets } = stores.frozen();
    await app.register(rateLimit, { store, fallback: PATIENT, limit: 6, window: '60s' });
    app.get('/', { config: { rl: { limit: 3, window: '60s' } } }, () => 'ok');
    app.get('/other', () => 'ok');
    expect(await injectInTurn(app, 2)).toEqual([200, 200]);
    expect(leftIn((await app.inject('/')).headers)).toEqual({ default: 3, GET: 0 });
    // It has the store of the context, where nothing else is said.
    expect(await countBuckets()).toBe(2);
    const denied = await app.inject('/');
    expect(denied.statusCode).toBe(429);
    expect(denied.json()).toMatchObject({ 'violated-policies': ['GET'] });
    expect(leftIn(denied.headers)).toEqual({ default: 2, GET: 0 });
    expect(await injectInTurn(app, 3, '/other')).toEqual([200, 200, 429]);
  });

  test('F-05 what the context denies is not charged to the route', async () => {
    const app = newApp();
    const { store } = stores.frozen();
    await app.register(rateLimit, { store, fallback: PATIENT, ...STRICT });
    app.get('/', { config: { rl: { limit: 5, window: '60s' } } }, () => 'ok');
    expect(leftIn((await app.inject('/')).headers)).toEqual({ default: 0, GET: 4 });
    const denied = await app.inject('/');
    expect(denied.statusCode).toBe(429);
    expect(leftIn(denied.headers)).toEqual({ default: 0 });
  });

  test('F-04 with override it is in the place of that of the context', async () => {
    const app = newApp();
    const { store } = stores.frozen();
    await app.register(rateLimit, { store, fallback: PATIENT, ...STRICT });
    app.get('/', { config: { rl: { override: true, limit: 3, window: '60s' } } }, () => 'ok');
    expect(leftIn((await app.inject('/')).headers)).toEqual({ GET: 2 });
    expect(await injectInTurn(app, 3)).toEqual([200, 200, 429]);
  });

  test('two routes with the same options have a limit each', async () => {
    const app = newApp();
    const { store } = stores.frozen();
    await app.register(rateLimit, { global: false, store, fallback: PATIENT });
    app.get('/a', { config: { rl: STRICT } }, () => 'ok');
    app.post('/a', { config: { rl: STRICT } }, () => 'ok');
    app.get('/b', { config: { rl: STRICT } }, () => 'ok');
    expect(await injectInTurn(app, 2, '/a')).toEqual([200, 429]);
    expect(await injectInTurn(app, 2, '/a', 'POST')).toEqual([200, 429]);
    expect(await injectInTurn(app, 2, '/b')).toEqual([200, 429]);
  });

  test('F-06 the HEAD route that Fastify adds has the limit of its GET', async () => {
    const app = newApp();
    const { store } = stores.frozen();
    await app.register(rateLimit, { global: false, store, fallback: PATIENT });
    app.get('/', { config: { rl: { limit: 3, window: '60s' } } }, () => 'ok');
    expect(await injectInTurn(app, 3)).toEqual([200, 200, 200]);
    const head = await app.inject({ method: 'HEAD', url: '/' });
    expect([head.statusCode, head.body]).toEqual([429, '']);
  });
});

test('rl: false has the route left alone by the limits of all its contexts', async () => {
  const app = newApp();
  await app.register(rateLimit, { ...STRICT });
  await app.register(async (child) => {
    await child.register(rateLimit, { ...STRICT, name: 'child' });
    child.get('/free', { config: { rl: false } }, () => 'ok');
    child.get('/', () => 'ok');
  });
  expect(await injectInTurn(app, 3, '/free')).toEqual([200, 200, 200]);
  expect((await app.inject('/free')).headers).not.toHaveProperty('ratelimit');
  expect(await injectInTurn(app, 2)).toEqual([200, 429]);
});

test('global: false limits only the routes that say so, and unknown paths not at all', async () => {
  const app = newApp();
  await app.register(rateLimit, { global: false });
  app.get('/', () => 'ok');
  app.get('/limited', { config: { rl: STRICT } }, () => 'ok');
  expect(await injectInTurn(app, 2)).toEqual([200, 200]);
  expect(await injectInTurn(app, 2, '/limited')).toEqual([200, 429]);
  expect(await injectInTurn(app, 2, '/unknown')).toEqual([404, 404]);
});

test('a route has key, body and headers from its context, and its own before them', async () => {
  const app = newApp();
  await app.register(rateLimit, {
    global: false,
    key: () => 'everybody',
    body: 'text',
    headers: 'legacy-epoch',
    skip: (request) => 'x-free' in request.headers,
  });
  app.get('/', { config: { rl: STRICT } }, () => 'ok');
  app.get('/json', { config: { rl: { ...STRICT, body: 'json' } } }, () => 'ok');
  for (const url of ['/', '/json']) {
    expect((await app.inject({ url, remoteAddress: '192.0.2.1' })).statusCode).toBe(200);
    const denied = await app.inject({ url, remoteAddress: '192.0.2.2' });
    expect(denied.statusCode).toBe(429);
    expect(denied.headers).toMatchObject({ 'x-ratelimit-limit': '1' });
    expect(denied.headers['content-type']).toMatch(url === '/' ? /^text/ : /json/);
    expect((await app.inject({ url, headers: { 'x-free': '1' } })).statusCode).toBe(200);
  }
});

test('routes of one name share a bucket, also where no store is given', async () => {
  const app = newApp();
  await app.register(rateLimit, { global: false });
  app.get('/a', { config: { rl: { ...STRICT, name: 'both' } } }, () => 'ok');
  app.get('/b', { config: { rl: { ...STRICT, name: 'both' } } }, () => 'ok');
  expect(await injectInTurn(app, 1, '/a')).toEqual([200]);
  expect(await injectInTurn(app, 1, '/b')).toEqual([429]);
});

describe('with a limiter', () => {
  const policies = {
    tenant: { limit: 10, window: '60s' },
    search: { limit: 1, window: '60s' },
  } as const;

  test('a route names the policies it falls under besides', async () => {
    const app = newApp();
    const limiter = createLimiter({ policies });
    await app.register(rateLimit, { limiter, keys: () => ({ tenant: 'ann' }) });
    app.get('/', { config: { rl: { keys: () => ({ search: 'ann' }) } } }, () => 'ok');
    expect(leftIn((await app.inject('/')).headers)).toEqual({ tenant: 9, search: 0 });
    const denied = await app.inject('/');
    expect(denied.json()).toMatchObject({ 'violated-policies': ['search'] });
    expect(leftIn(denied.headers)).toEqual({ tenant: 8, search: 0 });
  });

  test('in the place of that of the context it may have its keys, at another cost', async () => {
    const app = newApp();
    const limiter = createLimiter({ policies });
    await app.register(rateLimit, { limiter, keys: () => ({ tenant: 'ann' }) });
    app.get('/', { config: { rl: { override: true, cost: 4 } } }, () => 'ok');
    expect(leftIn((await app.inject('/')).headers)).toEqual({ tenant: 6 });
  });

  test('F-05 the same keys a second time are refused, and so is a limit without a store', async () => {
    const plugin = { limiter: createLimiter({ policies }), keys: () => ({ tenant: 'ann' }) };
    expect((await refusalOf({ cost: 2 }, plugin)).message).toMatch(/^config\.rl\.keys must be/);
    const message = 'config.rl.store must be given for a limit beside a limiter';
    expect((await refusalOf({ ...STRICT }, plugin)).message).toContain(message);
  });
});

describe('options that cannot be used are refused when the route is declared', () => {
  test.each([
    ['config.rl.limit must be', { window: '1m' }],
    ['config.rl.limit must be', {}],
    ['config.rl.limit must be', { limit: 1.5, window: '1m' }],
    ['config.rl.window must be', { limit: 1 }],
    ['config.rl.max is not an option', { ...STRICT, max: 1 }],
    ['config.rl.global is not an option', { ...STRICT, global: true }],
    ['config.rl.name must be', { ...STRICT, name: 'a b' }],
    ['config.rl.hook must be', { ...STRICT, hook: 'onSend' }],
    ['config.rl.override must be', { ...STRICT, override: 'yes' }],
    ['config.rl.body must be', { ...STRICT, body: 'html' }],
    ['config.rl must be', null],
    ['config.rl must be', true],
    ['config.rl must be', 5],
  ])('%s: %j', async (says, config) => {
    const error = await refusalOf(config);
    expect(error.message).toContain(says);
    expect(error.message).toMatch(/ \(of GET \/x\)$/);
    // It is the stack that a process prints that ends.
    expect(error.stack).toContain(error.message);
    expect(error).toMatchObject({ code: expect.stringMatching(/^RL_/) });
  });

  test('values that its name has elsewhere on the store are refused by their route', async () => {
    const error = await refusalOf(
      { ...STRICT, name: 'default' },
      { ...STRICT, limit: 9, store: memoryStore() },
    );
    expect(error.message).toMatch(/^config\.rl: policy "default" is in use .* \(of GET \/x\)$/);
  });

  test.each([
    ['/a/b', '/a-b'],
    [`/${'x'.repeat(70)}/1`, `/${'x'.repeat(70)}/2`],
  ])('%s and another path whose name would be the same: one has to have a name', async (a, b) => {
    const app = newApp();
    await app.register(rateLimit, { global: false });
    app.get(a, { config: { rl: STRICT } }, () => 'ok');
    // In another context too.
    await app.register(async (child) => {
      await child.register(rateLimit, { global: false });
      expect(() => child.get(b, { config: { rl: { ...STRICT } } }, () => 'ok')).toThrow(
        'config.rl.name must be given, as another route has the name',
      );
      child.get(b, { config: { rl: { ...STRICT, name: 'b' } } }, () => 'ok');
    });
    expect(await injectInTurn(app, 2, a)).toEqual([200, 429]);
    expect(await injectInTurn(app, 2, b)).toEqual([200, 429]);
  });

  test.each([
    ['global', { ...STRICT, global: 'no' }],
    ['limit', { global: false, limit: 5 }],
    ['hook', { ...STRICT, hook: 'onResponse' }],
    ['body', { global: false, body: 'html' }],
    ['store', { global: false, store: {} }],
    ['max', { global: false, max: 5 }],
  ])('and so are those of the plugin: %s', async (field, options) => {
    const app = newApp();
    const registered = async (): Promise<void> =>
      void (await app.register(rateLimit, options as unknown as PluginOptions));
    await expect(registered).rejects.toThrow(new RegExp(`^${field} (must be|is not)`));
  });
});

describe('routes declared before the plugin was there', () => {
  const warnings = useWarnings();

  test('have their limits as others do', async () => {
    const app = newApp();
    app.get('/', { config: { rl: { limit: 2, window: '60s' } } }, () => 'ok');
    app.get('/own', { config: { rl: { ...STRICT, override: true } } }, () => 'ok');
    app.get('/free', { config: { rl: false } }, () => 'ok');
    app.register(rateLimit, { limit: 3, window: '60s' });
    expect(await injectInTurn(app, 2, '/own')).toEqual([200, 429]);
    expect(await injectInTurn(app, 2, '/own', 'HEAD')).toEqual([429, 429]);
    expect(await injectInTurn(app, 3)).toEqual([200, 200, 429]);
    expect(leftIn((await app.inject('/')).headers)).toEqual({ default: 0 });
    expect(await injectInTurn(app, 2, '/free')).toEqual([200, 200]);
    expect(warnings()).toEqual([]);
  });

  test.each([
    ['config.rl.limit must be', { window: '60s' }],
    ['config.rl.hook must be one of "onRequest"', { ...STRICT, hook: 'preHandler' }],
  ])('are errors to their every request where that says %s', async (says, rl) => {
    const app = newApp();
    const seen = vi.fn();
    app.addHook('onError', async (_request, _reply, error) => seen(error.message));
    app.get('/', { config: { rl: rl as RouteRateLimitOptions } }, () => 'ok');
    app.get('/other', () => 'ok');
    app.register(rateLimit, { limit: 9, window: '60s' });
    expect(await injectInTurn(app, 2)).toEqual([500, 500]);
    expect(seen).toHaveBeenCalledTimes(2);
    expect(seen).toHaveBeenCalledWith(expect.stringContaining(says));
    expect(await injectInTurn(app, 1, '/other')).toEqual([200]);
  });
});

test('closing the app gives the names of its routes on the store up', async () => {
  const store = memoryStore();
  for (const limit of [1, 2]) {
    const app = newApp();
    await app.register(rateLimit, { global: false, store });
    app.get('/', { config: { rl: { limit, window: '60s' } } }, () => 'ok');
    await app.ready();
    await app.close();
  }
});

import { askInTurn, PATIENT, STORE_KINDS, type Target, useStores } from '@rl/adapter-suite';
import { memoryStore } from '@rl/core';
import { type FastifyInstance, fastify } from 'fastify';
import { afterEach, describe, expect, test } from 'vitest';
import { rateLimit } from '../src/index.js';
import { serveFastify } from './frameworks.js';

const running: FastifyInstance[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((app) => app.close()));
});

function newApp(): FastifyInstance {
  const app = fastify({ forceCloseConnections: true });
  running.push(app);
  return app;
}

async function targetOf(app: FastifyInstance): Promise<Target> {
  return (await serveFastify(app)).target;
}

describe.each(STORE_KINDS)('contexts, on a %s store', (kind) => {
  const stores = useStores(kind);

  test('F-02 a limiter in a child context leaves the routes of the parent alone', async () => {
    const app = newApp();
    const { store } = stores.frozen();
    app.get('/', () => 'ok');
    app.register(async (child) => {
      child.register(rateLimit, { store, limit: 1, window: '60s', fallback: PATIENT });
      child.get('/limit1', () => 'ok');
      child.get('/limit2', () => 'ok');
    });
    app.get('/other', () => 'ok');
    const target = await targetOf(app);
    // Two routes of one limiter share its bucket.
    expect(await askInTurn(target, 3, { path: '/limit1' })).toEqual([200, 429, 429]);
    expect(await askInTurn(target, 3, { path: '/limit2' })).toEqual([429, 429, 429]);
    expect(await askInTurn(target, 3, { path: '/' })).toEqual([200, 200, 200]);
    expect(await askInTurn(target, 3, { path: '/other' })).toEqual([200, 200, 200]);
  });

  test('F-02 two children with different limits each keep their own', async () => {
    const app = newApp();
    const { store } = stores.frozen();
    for (const limit of [1, 2]) {
      app.register(async (child) => {
        child.register(rateLimit, {
          store,
          name: `limit${limit}`,
          limit,
          window: '60s',
          fallback: PATIENT,
        });
        child.get(`/limit${limit}`, () => 'ok');
      });
    }
    const target = await targetOf(app);
    expect(await askInTurn(target, 3, { path: '/limit1' })).toEqual([200, 429, 429]);
    expect(await askInTurn(target, 3, { path: '/limit2' })).toEqual([200, 200, 429]);
  });

  test('F-03 unknown paths are limited too', async () => {
    const app = newApp();
    const { store } = stores.frozen();
    app.register(rateLimit, { store, limit: 5, window: '60s', fallback: PATIENT });
    app.get('/', () => 'ok');
    const statuses = await askInTurn(await targetOf(app), 10, { path: '/unknown' });
    expect(statuses).toEqual([404, 404, 404, 404, 404, 429, 429, 429, 429, 429]);
  });

  test('F-03 and so they are where the app answers them itself', async () => {
    const app = newApp();
    const { store } = stores.frozen();
    app.setNotFoundHandler((_request, reply) => reply.code(404).send('nothing here'));
    app.register(rateLimit, { store, limit: 5, window: '60s', fallback: PATIENT });
    const statuses = await askInTurn(await targetOf(app), 10, { path: '/unknown' });
    expect(statuses).toEqual([404, 404, 404, 404, 404, 429, 429, 429, 429, 429]);
  });
});

test('routes declared before the limiter in its context are limited as well', async () => {
  const app = newApp();
  app.get('/', () => 'ok');
  app.register(rateLimit, { limit: 1, window: '60s' });
  expect(await askInTurn(await targetOf(app), 2)).toEqual([200, 429]);
});

test('H-07 onSend hooks of the app see a denial', async () => {
  const app = newApp();
  app.addHook('onSend', async (_request, reply) => void reply.header('x-seen', reply.statusCode));
  app.register(rateLimit, { limit: 0, window: '60s' });
  const denied = await app.inject('/');
  expect(denied.headers).toMatchObject({ 'x-seen': '429' });
});

test('a prefix, which a plugin of the whole context cannot have, is refused', async () => {
  const app = newApp();
  app.register(rateLimit, { prefix: '/api', limit: 1, window: '60s' } as never);
  await expect(async () => app.ready()).rejects.toThrow('prefix is not an option');
});

test('closing the app gives its policy names on the store up and leaves the store open', async () => {
  const store = memoryStore();
  const first = newApp();
  first.register(rateLimit, { store, limit: 1, window: '60s' });
  await first.ready();
  const rival = newApp();
  rival.register(rateLimit, { store, limit: 2, window: '60s' });
  await expect(async () => rival.ready()).rejects.toThrow('policy "default" is in use');
  await first.close();
  const second = newApp();
  second.register(rateLimit, { store, limit: 2, window: '60s' });
  second.get('/', () => 'ok');
  expect((await second.inject('/')).statusCode).toBe(200);
});

import cors from '@fastify/cors';
import { expect, test } from 'vitest';
import { rateLimit } from '../src/index.js';
import { useApps } from './new-apps.js';

const newApp = useApps();
const STRICT = { limit: 1, window: '60s' } as const;

test.each([
  ['of the plugin', { ...STRICT, body: () => ({ error: 'x' }) }, undefined],
  [
    'of a route',
    { limit: 9, window: '60s' } as const,
    { ...STRICT, body: async () => ({ error: 'x' }) },
  ],
])(
  'H-06 a body %s is sent as it is, though the app has an error handler',
  async (_, options, rl) => {
    const app = newApp();
    app.setErrorHandler((_error, _request, reply) => reply.code(500).send('handled'));
    await app.register(rateLimit, options);
    app.get('/', { config: { rl } }, () => 'ok');
    expect((await app.inject('/')).statusCode).toBe(200);
    const denied = await app.inject('/');
    expect([denied.statusCode, denied.json()]).toEqual([429, { error: 'x' }]);
    expect(denied.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'retry-after': '60',
      ratelimit: expect.stringContaining('r=0'),
    });
  },
);

test("H-06 body: 'error' goes to the error handler of the app, with the headers on the reply", async () => {
  const app = newApp();
  app.setErrorHandler((error: { statusCode?: number; name?: string }, _request, reply) =>
    reply.code(error.statusCode ?? 500).send({ mine: error.name }),
  );
  await app.register(rateLimit, { ...STRICT, body: 'error' });
  app.get('/', () => 'ok');
  expect((await app.inject('/')).statusCode).toBe(200);
  const denied = await app.inject('/');
  expect([denied.statusCode, denied.json()]).toEqual([429, { mine: 'DeniedError' }]);
  expect(denied.headers).toMatchObject({ 'retry-after': '60', 'cache-control': 'no-store' });
});

test("H-06 and without one Fastify's own answers it, with the same status", async () => {
  const app = newApp();
  await app.register(rateLimit, { limit: 0, window: '60s', body: 'error' });
  app.get('/', () => 'ok');
  const denied = await app.inject('/');
  expect(denied.statusCode).toBe(429);
  expect(denied.json()).toMatchObject({ statusCode: 429, error: 'Too Many Requests' });
});

test('a body that fails, or is none, is an error of the app and no denial', async () => {
  const app = newApp();
  await app.register(rateLimit, { limit: 0, window: '60s', body: (() => undefined) as never });
  app.get('/', () => 'ok');
  const failed = await app.inject('/');
  expect(failed.statusCode).toBe(500);
  expect(failed.json()).toMatchObject({ message: expect.stringMatching(/^body must be/) });
});

test('H-07 F-06 with @fastify/cors a denial can be read by scripts, and preflights are not charged', async () => {
  const app = newApp();
  const origin = 'https://app.example';
  await app.register(cors, { origin: [origin] });
  app.addHook('onSend', async (_request, reply) => void reply.header('x-seen', reply.statusCode));
  await app.register(rateLimit, { limit: 3, window: '60s', headers: { expose: true } });
  app.get('/', () => 'ok');
  const preflight = {
    method: 'OPTIONS',
    url: '/',
    headers: { origin, 'access-control-request-method': 'GET' },
  } as const;
  for (let i = 0; i < 3; i++) {
    expect((await app.inject(preflight)).statusCode).toBe(204);
    expect((await app.inject({ url: '/', headers: { origin } })).statusCode).toBe(200);
  }
  expect((await app.inject(preflight)).statusCode).toBe(204);
  const denied = await app.inject({ url: '/', headers: { origin } });
  expect(denied.statusCode).toBe(429);
  expect(denied.headers).toMatchObject({
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'RateLimit-Policy, RateLimit, Retry-After',
    'x-seen': '429',
  });
  const head = await app.inject({ method: 'HEAD', url: '/' });
  expect([head.statusCode, head.body]).toEqual([429, '']);
});

import { useWarnings } from '@rl/adapter-suite';
import type { fastify as newest } from 'fastify';
import { fastify as oldest } from 'fastify50';
import { afterEach, expect, test } from 'vitest';
import { rateLimit, rateLimitHook } from '../src/index.js';
import { injectInTurn, leftIn } from './new-apps.js';

const warnings = useWarnings();

// What is used of it here is as in the newest.
const fastify = oldest as unknown as typeof newest;
const app = () => fastify({ trustProxy: 1 as never });
let running = app();
afterEach(() => running.close());

test('Fastify 5.0.0: limits of a context, of routes, of HEAD, of unknown paths', async () => {
  running = app();
  expect(running.version).toBe('5.0.0');
  const rl = { limit: 2, window: '60s' } as const;
  running.get('/before', { config: { rl } }, () => 'ok');
  const preHandler = rateLimitHook(running, { limit: 1, window: '60s', name: 'unknown' });
  running.setNotFoundHandler({ preHandler }, (_request, reply) => reply.code(404).send());
  await running.register(rateLimit, { limit: 20, window: '60s' });
  await running.register(async (child) => {
    await child.register(rateLimit, { limit: 20, window: '60s', name: 'child' });
    child.get('/', { config: { rl: { ...rl, hook: 'preParsing' } } }, () => 'ok');
  });
  running.get('/free', { config: { rl: false } }, () => 'ok');
  expect(leftIn((await running.inject('/')).headers)).toEqual({ default: 19, child: 19, GET: 1 });
  expect(await injectInTurn(running, 2, '/', 'HEAD')).toEqual([200, 429]);
  expect(await injectInTurn(running, 3, '/before')).toEqual([200, 200, 429]);
  expect(await injectInTurn(running, 2, '/unknown')).toEqual([404, 429]);
  expect((await running.inject('/free')).headers).not.toHaveProperty('ratelimit');
});

test('K-05 Fastify 5.0.0 goes by a number for trustProxy, so it is not warned of', async () => {
  running = app();
  await running.register(rateLimit, { limit: 1, window: '60s' });
  running.get('/', () => 'ok');
  const statuses: number[] = [];
  for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.1']) {
    const headers = { 'x-forwarded-for': address };
    statuses.push((await running.inject({ url: '/', headers })).statusCode);
  }
  expect(statuses).toEqual([200, 200, 429]);
  expect(warnings()).toEqual([]);
});

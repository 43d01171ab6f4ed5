import { useWarnings } from '@rl/adapter-suite';
import { fastify } from 'fastify';
import { expect, test } from 'vitest';
import { rateLimit } from '../src/index.js';

const warnings = useWarnings();

test.each([
  [true, ['RL_PROXY_TRUSTS_ANYBODY']],
  [false, ['RL_PROXY_NOT_TRUSTED']],
  [undefined, ['RL_PROXY_NOT_TRUSTED']],
  ['127.0.0.1', []],
  [['10.0.0.0/8'], []],
  [() => true, []],
  // Since 5.12.1 Fastify believes nobody then.
  [1, ['RL_PROXY_COUNT_IGNORED']],
])('K-05 with trustProxy %s it warns of %s', async (trustProxy, codes) => {
  const app = fastify({ trustProxy: trustProxy as boolean });
  // Also in a context within.
  app.register(async (child) => {
    child.register(rateLimit, { limit: 5, window: '60s' });
    child.get('/', async () => 'ok');
  });
  await app.ready();
  expect(warnings()).toEqual([]);
  const headers = { 'x-forwarded-for': '192.0.2.1' };
  for (let i = 0; i < 2; i++) await app.inject({ url: '/', headers });
  expect(warnings()).toEqual(codes);
  await app.close();
});

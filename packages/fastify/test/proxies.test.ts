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

test.each([
  ['a key', { key: () => 'ann' }],
  ['none', {}],
])(
  'K-05 a number for trustProxy, by which nobody is believed, is warned of at registration, with %s',
  async (_, own) => {
    const app = fastify({ trustProxy: 1 as never });
    await app.register(rateLimit, { limit: 5, window: '60s', ...own });
    expect(warnings()).toEqual(['RL_PROXY_COUNT_IGNORED']);
    app.get('/', { config: { rl: { limit: 5, window: '60s' } } }, () => 'ok');
    await app.inject({ url: '/', headers: { 'x-forwarded-for': '192.0.2.1' } });
    expect(warnings()).toEqual(['RL_PROXY_COUNT_IGNORED']);
    await app.close();
  },
);

import { ask, serve } from '@rl/adapter-suite';
import Koa from 'koa';
import { expect, test } from 'vitest';
import { clientIp } from '../src/index.js';

test('K-04 clientIp takes a context, and not what its client wrote in front', async () => {
  const ipOf = clientIp({ trustedProxies: ['loopback'] });
  const app = new Koa({ proxy: true });
  app.use((ctx) => {
    ctx.body = `${ctx.ip} ${ipOf(ctx)}`;
  });
  const { target, close } = await serve(app.callback(), 'port');
  try {
    const headers = { 'x-forwarded-for': ['192.0.2.1', '[2001:DB8::1]:443'] };
    expect((await ask(target, { headers })).body).toBe('192.0.2.1 2001:db8::1');
    expect((await ask(target)).body).toBe('127.0.0.1 127.0.0.1');
  } finally {
    await close();
  }
});

import { once } from 'node:events';
import { type ClientHttp2Session, connect, constants, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createLimiter } from '@rl/core';
import Koa from 'koa';
import { afterEach, expect, test, vi } from 'vitest';
import { rateLimit } from '../src/index.js';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0).reverse()) close();
});

async function connectTo(app: Koa): Promise<ClientHttp2Session> {
  const server = createServer(app.callback()).listen(0, '127.0.0.1');
  closing.push(() => void server.close());
  await once(server, 'listening');
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  closing.push(() => session.close());
  return session;
}

async function ask(session: ClientHttp2Session, path: string) {
  const stream = session.request({ ':path': path });
  const [headers] = await once(stream, 'response');
  stream.resume();
  await once(stream, 'close');
  return headers;
}

test('F-07 over HTTP/2: what failed or was left by the client is refunded, what succeeded is not', async () => {
  const keys = { p: 'ann' };
  const limiter = createLimiter({ policies: { p: { limit: 3, window: '1h' } } });
  const used = async (): Promise<number> => 3 - (await limiter.peek(keys)).remaining;
  const refund = vi.spyOn(limiter, 'refund');
  let handling = (): void => {};
  const handled = new Promise<void>((resolve) => {
    handling = resolve;
  });
  const app = new Koa();
  app.use(rateLimit({ limiter, keys: () => keys, refundWhen: 'failed' }));
  app.use((ctx) => {
    ctx.body = 'ok';
    if (ctx.path === '/fails') ctx.status = 500;
    if (ctx.path !== '/waits') return undefined;
    handling();
    return new Promise(() => {});
  });
  const session = await connectTo(app);

  expect(await ask(session, '/')).toMatchObject({ ':status': 200, ratelimit: '"p";r=2;t=1200' });
  const leaving = session.request({ ':path': '/waits' });
  leaving.on('error', () => {});
  await handled;
  expect(await used()).toBe(2);
  leaving.close(constants.NGHTTP2_CANCEL);
  await vi.waitUntil(() => refund.mock.calls.length === 1, { interval: 1 });
  expect(await ask(session, '/fails')).toMatchObject({ ':status': 500 });
  await vi.waitUntil(() => refund.mock.calls.length === 2, { interval: 1 });
  expect(await used()).toBe(1);
  for (const path of ['/', '/']) expect((await ask(session, path))[':status']).toBe(200);
  expect(await ask(session, '/')).toMatchObject({ ':status': 429, 'retry-after': '1200' });
  expect(refund).toHaveBeenCalledTimes(2);
  await limiter.close();
});

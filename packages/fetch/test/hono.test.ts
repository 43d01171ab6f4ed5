import { serve as listen } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import { ask } from '@rl/adapter-suite';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { afterEach, expect, test } from 'vitest';
import { type RateLimitOptions, rateLimit } from '../src/index.js';

const closing: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const addressOf = (_: Request, c: Context) => getConnInfo(c).remote.address;

/** As the README has it. */
function middleware(options: RateLimitOptions<Context>): MiddlewareHandler {
  const limit = rateLimit<Context>(options);
  return async (c, next) => {
    const verdict = await limit(c.req.raw, c);
    if (verdict.denied !== undefined) return verdict.denied;
    await next();
    const response = verdict.finish(c.res);
    c.res = undefined;
    c.res = response;
    return undefined;
  };
}

async function start(app: Hono): Promise<{ host: string; port: number }> {
  return new Promise((resolve) => {
    const options = { fetch: app.fetch, port: 0, hostname: '127.0.0.1' };
    const server = listen({ ...options, overrideGlobalObjects: false }, ({ port }) =>
      resolve({ host: '127.0.0.1', port }),
    );
    closing.push(() => server.close());
  });
}

test('Hono: two limiters tell of both quotas in their order, and deny by the peer', async () => {
  const app = new Hono();
  app.use(middleware({ name: 'day', limit: 5, window: '1d', addressOf }));
  app.use(middleware({ name: 'hour', limit: 1, window: '1h', addressOf }));
  app.get('/', (c) => c.text('ok'));
  const target = await start(app);
  const allowed = await ask(target);
  expect(allowed).toMatchObject({ status: 200, body: 'ok' });
  expect(allowed.headers['ratelimit-policy']).toBe('"day";q=5;w=86400, "hour";q=1;w=3600');
  const denied = await ask(target);
  expect([denied.status, denied.headers['retry-after']]).toEqual([429, '3600']);
  expect(denied.headers['ratelimit-policy']).toBe('"day";q=5;w=86400, "hour";q=1;w=3600');
});

test('Hono: redirects, cookies and errors of the app keep what they have', async () => {
  const app = new Hono();
  const refundWhen = 'failed';
  app.use(middleware({ limit: 2, window: '1h', addressOf, refundWhen }));
  app.get('/', (c) => {
    c.header('set-cookie', 'a=1', { append: true });
    c.header('set-cookie', 'b=2', { append: true });
    return c.redirect('/x');
  });
  app.get('/fails', () => {
    throw new Error('not today');
  });
  app.onError((_, c) => c.text('sorry', 500));
  const target = await start(app);
  for (let i = 0; i < 3; i++) {
    const failed = await ask(target, { path: '/fails' });
    expect([failed.status, failed.headers.ratelimit]).toEqual([500, '"default";r=1;t=1800']);
  }
  const moved = await ask(target);
  expect([moved.status, moved.headers.location]).toEqual([302, '/x']);
  expect(moved.headers['set-cookie']).toEqual(['a=1', 'b=2']);
  expect(moved.headers.ratelimit).toBe('"default";r=1;t=1800');
});

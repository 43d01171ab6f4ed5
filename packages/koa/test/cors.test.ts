import cors from '@koa/cors';
import { type Answer, ask, serve } from '@rl/adapter-suite';
import Koa from 'koa';
import { afterEach, describe, expect, test } from 'vitest';
import { type RateLimitOptions, rateLimit } from '../src/index.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

const ORIGIN = 'https://a.example';
const EXPOSED = 'RateLimit-Policy, RateLimit, Retry-After';

/** The denial of a client of another origin, with cors() before the limiter. */
async function denied(
  options: Partial<RateLimitOptions>,
  corsOptions: cors.Options = {},
  handlesErrors = false,
): Promise<Answer> {
  const app = new Koa();
  app.use(cors({ origin: ORIGIN, credentials: true, ...corsOptions }));
  if (handlesErrors) {
    app.use(async (ctx, next) => {
      try {
        await next();
      } catch (error) {
        ctx.status = (error as { status: number }).status;
        ctx.body = 'custom';
      }
    });
  }
  app.use(rateLimit({ limit: 1, window: '60s', ...options } as RateLimitOptions));
  app.use((ctx) => {
    ctx.body = 'ok';
  });
  const { target, close } = await serve(app.callback(), 'port');
  closing.push(close);
  const headers = { origin: ORIGIN };
  const asked = { ...headers, 'access-control-request-method': 'GET' };
  expect((await ask(target, { method: 'OPTIONS', headers: asked })).status).toBe(204);
  expect((await ask(target, { headers })).status).toBe(200);
  return ask(target, { headers });
}

describe('H-07 behind cors()', () => {
  test.each([
    ['a body', {}, false],
    ['an error', { body: 'error' }, false],
    ['an error that the app answers', { body: 'error' }, true],
  ] as const)('a 429 can be read by the other origin: %s', async (_, options, handlesErrors) => {
    const answer = await denied(
      { ...options, headers: { expose: true } },
      undefined,
      handlesErrors,
    );
    expect(answer.status).toBe(429);
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': ORIGIN,
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': EXPOSED,
      'retry-after': '60',
      ratelimit: '"default";r=0;t=60',
    });
    expect(answer.headers.vary?.toLowerCase()).toBe('origin');
  });

  test('what cors() exposes stays', async () => {
    const answer = await denied({ headers: { expose: true } }, { exposeHeaders: ['X-Mine'] });
    expect(answer.headers['access-control-expose-headers']).toBe(`X-Mine, ${EXPOSED}`);
  });

  test('nothing is exposed unless the app wants it', async () => {
    const answer = await denied({});
    expect(answer.headers['access-control-allow-origin']).toBe(ORIGIN);
    expect(answer.headers).not.toHaveProperty('access-control-expose-headers');
  });
});

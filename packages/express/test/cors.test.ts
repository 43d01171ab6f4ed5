import { type Answer, ask, serve } from '@rl/adapter-suite';
import cors from 'cors';
import express, { type ErrorRequestHandler } from 'express';
import { afterEach, describe, expect, test } from 'vitest';
import { type RateLimitOptions, rateLimit } from '../src/index.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

const ORIGIN = 'https://a.example';
const EXPOSED = 'RateLimit-Policy, RateLimit, Retry-After';

const answerErrors: ErrorRequestHandler = (error, _req, res, _next) => {
  res.status(error.status).send('custom');
};

/** The denial of a client of another origin, with cors() before the limiter. */
async function denied(
  options: Partial<RateLimitOptions>,
  corsOptions: cors.CorsOptions = {},
  handlesErrors = false,
): Promise<Answer> {
  const app = express();
  app.set('env', 'test');
  app.use(cors({ origin: ORIGIN, credentials: true, ...corsOptions }));
  app.use(rateLimit({ limit: 1, window: '60s', ...options } as RateLimitOptions));
  app.get('/', (_req, res) => void res.send('ok'));
  if (handlesErrors) app.use(answerErrors);
  const { target, close } = await serve(app, 'port');
  closing.push(close);
  const headers = { origin: ORIGIN };
  // Answered by cors() itself, before the limiter.
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
      vary: 'Origin',
      'retry-after': '60',
      ratelimit: '"default";r=0;t=60',
    });
  });

  test('what cors() exposes stays', async () => {
    const answer = await denied({ headers: { expose: true } }, { exposedHeaders: ['X-Mine'] });
    expect(answer.headers['access-control-expose-headers']).toBe(`X-Mine, ${EXPOSED}`);
  });

  test('nothing is exposed unless the app wants it', async () => {
    const answer = await denied({});
    expect(answer.headers['access-control-allow-origin']).toBe(ORIGIN);
    expect(answer.headers).not.toHaveProperty('access-control-expose-headers');
  });
});

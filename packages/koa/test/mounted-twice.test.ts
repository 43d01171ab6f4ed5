import { ask, serve } from '@rl/adapter-suite';
import Koa from 'koa';
import { expect, test } from 'vitest';
import { rateLimit } from '../src/index.js';

test('F-05 one middleware, mounted for all and for a path, charges a request once', async () => {
  const app = new Koa();
  const limit = rateLimit({ limit: 3, window: '1h' });
  app.use(limit);
  app.use((ctx, next) => (ctx.path === '/x' ? limit(ctx, next) : next()));
  app.use((ctx) => {
    ctx.body = 'ok';
  });
  const { target, close } = await serve(app.callback(), 'port');
  try {
    for (const left of [2, 1, 0]) {
      const answer = await ask(target, { path: '/x' });
      expect(answer.status).toBe(200);
      expect(answer.headers.ratelimit).toBe(`"default";r=${left};t=1200`);
    }
    expect((await ask(target, { path: '/x' })).status).toBe(429);
  } finally {
    await close();
  }
});

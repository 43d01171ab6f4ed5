import { ask, serve } from '@rl/adapter-suite';
import express from 'express';
import { expect, test } from 'vitest';
import { rateLimit } from '../src/index.js';

test('F-05 one middleware, mounted for all and for a path, charges a request once', async () => {
  const app = express();
  const limit = rateLimit({ limit: 3, window: '1h' });
  app.use(limit);
  app.get('/x', limit, limit, (_req, res) => void res.send('ok'));
  const { target, close } = await serve(app, 'port');
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

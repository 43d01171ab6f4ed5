import type { Limiter } from '@rl/core';
import { isLogin, pagesOf, type ServicePolicy } from '@rl/example-service';
import express, { type Express } from 'express';
import { createLimits, customerOf } from './limits.js';

/**
 * The service.
 *
 * @param limiter of all its limits; whoever made it closes it
 */
export function createApp(limiter: Limiter<ServicePolicy>): Express {
  const limits = createLimits(limiter);
  const app = express();
  app.use(limits.tier);
  app.get('/health', (_req, res) => {
    res.json({ status: 'ok' });
  });
  app.post('/login', limits.login, (req, res) => {
    if (isLogin(req.get('authorization'))) res.json({ welcome: 'back' });
    else res.status(401).json({ error: 'wrong name or password' });
  });
  app.use((req, res, next) => {
    if (customerOf(req) !== undefined) next();
    else res.status(401).json({ error: 'x-api-key is not a key of ours' });
  });
  app.get('/', (req, res) => {
    res.json({ hello: customerOf(req)?.name });
  });
  app.get('/search', limits.search, (req, res) => {
    res.json({ pages: pagesOf(req.query.pages) });
  });
  return app;
}

import Router from '@koa/router';
import type { Limiter } from '@rl/core';
import { isLogin, pagesOf, type ServicePolicy } from '@rl/example-service';
import Koa from 'koa';
import { createLimits, customerOf } from './limits.js';

/**
 * The service.
 *
 * @param limiter of all its limits; whoever made it closes it
 */
export function createApp(limiter: Limiter<ServicePolicy>): Koa {
  const limits = createLimits(limiter);
  const open = new Router();
  open.get('/health', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  open.post('/login', limits.login, (ctx) => {
    const isRight = isLogin(ctx.get('authorization'));
    ctx.status = isRight ? 200 : 401;
    ctx.body = isRight ? { welcome: 'back' } : { error: 'wrong name or password' };
  });
  const customers = new Router();
  customers.get('/', (ctx) => {
    ctx.body = { hello: customerOf(ctx)?.name };
  });
  customers.get('/search', limits.search, (ctx) => {
    ctx.body = { pages: pagesOf(ctx.query.pages) };
  });
  const app = new Koa();
  app.use(limits.tier);
  app.use(open.routes());
  app.use((ctx, next) => {
    if (customerOf(ctx) !== undefined) return next();
    ctx.status = 401;
    ctx.body = { error: 'x-api-key is not a key of ours' };
    return;
  });
  app.use(customers.routes());
  return app;
}

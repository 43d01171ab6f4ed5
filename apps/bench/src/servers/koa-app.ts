import { createServer, type Server } from 'node:http';
import { rateLimit } from '@rl/koa';
import Koa from 'koa';
import { CLIENT_HEADER } from '../http-load/request.js';
import { type ApiLimiter, DOCUMENT } from './app.js';

export function koaApp(limiter: ApiLimiter | undefined): Server {
  const app = new Koa();
  if (limiter !== undefined) {
    app.use(rateLimit({ limiter, keys: (ctx) => ({ api: ctx.get(CLIENT_HEADER) }) }));
  }
  app.use((ctx) => {
    ctx.body = DOCUMENT;
  });
  return createServer(app.callback());
}

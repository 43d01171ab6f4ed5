import { createServer, type Server } from 'node:http';
import { rateLimit } from '@rl/koa';
import Koa, { type Context, type Middleware } from 'koa';
import { CLIENT_HEADER } from '../http-load/request.js';
import { type AppLimits, DOCUMENT, type OurOptions } from './app.js';

export async function koaApp(limits: AppLimits | undefined): Promise<Server> {
  const app = new Koa();
  if (limits !== undefined) app.use(await middlewareOf(limits));
  app.use((ctx) => {
    ctx.body = DOCUMENT;
  });
  return createServer(app.callback());
}

/** A server of ours has none of the others in its memory. */
async function middlewareOf(limits: AppLimits): Promise<Middleware> {
  if (limits.by === 'rl') return ours(limits.options);
  const peers = await import('./koa-peers.js');
  return limits.by === 'usual'
    ? peers.usualMiddleware(limits.quota)
    : peers.flexibleMiddleware(limits.limiter);
}

function ours(options: OurOptions): Middleware {
  const key = (ctx: Context) => ctx.get(CLIENT_HEADER);
  if ('limiter' in options) return rateLimit({ ...options, keys: (ctx) => ({ api: key(ctx) }) });
  return rateLimit({ ...options, key });
}

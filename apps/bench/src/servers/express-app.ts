import { createServer, type Server } from 'node:http';
import { rateLimit } from '@rl/express';
import express, { type Request, type RequestHandler } from 'express';
import { CLIENT_HEADER } from '../http-load/request.js';
import { type AppLimits, DOCUMENT, type OurOptions } from './app.js';

export async function expressApp(limits: AppLimits | undefined): Promise<Server> {
  const app = express();
  if (limits !== undefined) app.use(await middlewareOf(limits));
  app.get('/', (_, res) => void res.json(DOCUMENT));
  return createServer(app);
}

/** A server of ours has none of the others in its memory. */
async function middlewareOf(limits: AppLimits): Promise<RequestHandler> {
  if (limits.by === 'rl') return ours(limits.options);
  const peers = await import('./express-peers.js');
  return limits.by === 'usual'
    ? peers.usualMiddleware(limits.quota)
    : peers.flexibleMiddleware(limits.limiter);
}

function ours(options: OurOptions): RequestHandler {
  const key = (req: Request) => req.get(CLIENT_HEADER);
  if ('limiter' in options) return rateLimit({ ...options, keys: (req) => ({ api: key(req) }) });
  return rateLimit({ ...options, key });
}

import { createServer, type Server } from 'node:http';
import { rateLimit } from '@rl/express';
import express, { type RequestHandler } from 'express';
import { rateLimit as expressRateLimit } from 'express-rate-limit';
import { CLIENT_HEADER } from '../http-load/request.js';
import { type ApiLimiter, DOCUMENT } from './app.js';
import type { QuotaOrder } from './order.js';

export function expressApp(limiter: ApiLimiter | undefined): Server {
  if (limiter === undefined) return serve(undefined);
  return serve(rateLimit({ limiter, keys: (req) => ({ api: req.get(CLIENT_HEADER) }) }));
}

/** The same behind the middleware of `express-rate-limit` and its MemoryStore. */
export function peerApp({ limit, windowMs }: QuotaOrder): Server {
  const middleware = expressRateLimit({
    limit,
    windowMs,
    keyGenerator: (req) => req.get(CLIENT_HEADER) as string,
    // As its documentation sets it up; these are the fields that ours writes.
    standardHeaders: 'draft-8',
    legacyHeaders: false,
  });
  return serve(middleware);
}

function serve(middleware: RequestHandler | undefined): Server {
  const app = express();
  if (middleware !== undefined) app.use(middleware);
  app.get('/', (_, res) => void res.json(DOCUMENT));
  return createServer(app);
}

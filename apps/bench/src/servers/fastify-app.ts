import type { Server } from 'node:http';
import { rateLimit } from '@rl/fastify';
import fastify from 'fastify';
import { CLIENT_HEADER } from '../http-load/request.js';
import { type ApiLimiter, DOCUMENT } from './app.js';

export async function fastifyApp(limiter: ApiLimiter | undefined): Promise<Server> {
  const app = fastify();
  if (limiter !== undefined) {
    await app.register(rateLimit, {
      limiter,
      keys: ({ headers }) => ({ api: headers[CLIENT_HEADER] as string }),
    });
  }
  app.get('/', async () => DOCUMENT);
  await app.ready();
  return app.server;
}

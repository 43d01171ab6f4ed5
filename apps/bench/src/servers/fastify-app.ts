import type { Server } from 'node:http';
import { rateLimit } from '@rl/fastify';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { CLIENT_HEADER } from '../http-load/request.js';
import { type AppLimits, DOCUMENT, type OurOptions } from './app.js';

export async function fastifyApp(limits: AppLimits | undefined): Promise<Server> {
  const app = fastify();
  if (limits !== undefined) await limit(app, limits);
  app.get('/', async () => DOCUMENT);
  await app.ready();
  return app.server;
}

/** A server of ours has none of the others in its memory. */
async function limit(app: FastifyInstance, limits: AppLimits): Promise<void> {
  if (limits.by === 'rl') return registerOurs(app, limits.options);
  const peers = await import('./fastify-peers.js');
  if (limits.by === 'usual') return peers.registerUsual(app, limits.quota);
  peers.addFlexibleHook(app, limits.limiter);
}

async function registerOurs(app: FastifyInstance, options: OurOptions): Promise<void> {
  const key = ({ headers }: FastifyRequest) => headers[CLIENT_HEADER] as string;
  if ('limiter' in options) {
    await app.register(rateLimit, { ...options, keys: (request) => ({ api: key(request) }) });
  } else {
    await app.register(rateLimit, { ...options, key });
  }
}

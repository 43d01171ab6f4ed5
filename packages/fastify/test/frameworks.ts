import type { AddressInfo } from 'node:net';
import type { Framework, Listen, RunningApp } from '@rl/adapter-suite';
import { type FastifyInstance, fastify } from 'fastify';
import { endpointOf, rateLimit } from '../src/index.js';

export const FASTIFY_5: Framework = {
  name: 'Fastify 5',
  endpointOf,
  async start({ limiters, trust, routes = [], onArrival, onHandled, onError }, listen) {
    const app: FastifyInstance = fastify({
      trustProxy: { nobody: false, one: '127.0.0.1', anybody: true }[trust ?? 'nobody'],
      forceCloseConnections: true,
    });
    app.addHook('onRequest', (_request, reply, done) => {
      reply.header('access-control-allow-origin', '*');
      onArrival?.(
        () => void reply.code(503).send('late'),
        () => reply.raw,
      );
      done();
    });
    for (const options of limiters) app.register(rateLimit, options);
    for (const { method, path, limiter } of routes) {
      app.register(async (child) => {
        child.register(rateLimit, limiter);
        child.route({ method, url: path, handler: (_request, reply) => reply.send('ok') });
      });
    }
    app.addHook('onError', async (_request, _reply, error) => onError?.(error));
    app.route({
      method: ['GET', 'POST'],
      url: '/',
      handler: (_request, reply) => {
        onHandled?.();
        reply.send('ok');
      },
    });
    return serveFastify(app, listen);
  },
};

/** Has it listen, like `serve` of the suite. */
export async function serveFastify(
  app: FastifyInstance,
  listen: Listen = 'port',
): Promise<RunningApp> {
  const close = (): Promise<void> => app.close();
  if (listen !== 'port') {
    await app.listen({ path: listen.socketPath });
    return { target: listen, close };
  }
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return { target: { host: '127.0.0.1', port }, close };
}

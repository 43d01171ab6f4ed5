import type { AddressInfo } from 'node:net';
import type { Framework, Listen, RunningApp } from '@rl/adapter-suite';
import { type FastifyInstance, fastify } from 'fastify';
import { endpointOf, rateLimit } from '../src/index.js';

export const FASTIFY_5: Framework = {
  name: 'Fastify 5',
  endpointOf,
  async start(plan, listen) {
    const { limiters, trust, routes = [], onArrival, onHandled, onError } = plan;
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
    if (plan.handlesErrors) {
      app.setErrorHandler<{ statusCode: number }>((error, _request, reply) => {
        reply.code(error.statusCode).send('custom');
      });
    }
    app.addHook('onError', async (_request, _reply, error) => onError?.(error));
    app.route({
      method: ['GET', 'POST', 'OPTIONS'],
      url: '/',
      handler: (request, reply) => {
        onHandled?.();
        const status = plan.statusOf?.(request) ?? 200;
        if (typeof status === 'number') reply.code(status).send('ok');
        else
          status.then((later) => reply.code(later).send('ok')).catch((error) => reply.send(error));
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

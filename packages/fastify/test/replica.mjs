import { runReplica } from '@rl/adapter-suite/replica';
import { rateLimit } from '@rl/fastify';
import { fastify } from 'fastify';

await runReplica(async (options) => {
  const app = fastify({ forceCloseConnections: true });
  app.register(rateLimit, options);
  app.get('/', (_request, reply) => reply.send('ok'));
  await app.listen({ host: '127.0.0.1', port: 0 });
  return { target: { host: '127.0.0.1', port: app.addresses()[0].port }, close: () => app.close() };
});

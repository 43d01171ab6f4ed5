import { describeStatusPage } from '@rl/adapter-suite';
import { fastify } from 'fastify';
import { expect, test } from 'vitest';
import { statusPage } from '../src/index.js';
import { serveFastify } from './frameworks.js';

describeStatusPage({
  name: 'Fastify 5',
  async start(options, listen, onError) {
    const app = fastify({ forceCloseConnections: true });
    app.addHook('onError', async (_request, _reply, error) => onError(error));
    app.register(async (ops) => void ops.register(statusPage, { prefix: '/limits', ...options }), {
      prefix: '/ops',
    });
    return serveFastify(app, listen);
  },
});

test('options that cannot be used keep the app from starting', async () => {
  const app = fastify();
  app.register(statusPage, { prefix: '/limits' } as never);
  await expect(app.ready()).rejects.toThrow(/^allow must be a function/);
});

import { getRequestListener } from '@hono/node-server';
import { describeStatusPage, serve } from '@rl/adapter-suite';
import { statusPage } from '../src/index.js';

describeStatusPage({
  name: 'Fetch',
  async start(options, listen, onError) {
    const page = statusPage({ ...options, path: '/ops/limits' });
    const listener = getRequestListener(page, {
      overrideGlobalObjects: false,
      errorHandler: (error) => {
        onError(error);
        return new Response(null, { status: 500 });
      },
    });
    return serve(listener, listen);
  },
});

import type { AddressInfo } from 'node:net';
import { describeService } from '@rl/adapter-suite';
import { createServiceLimiter } from '@rl/example-service';
import { createApp } from '../src/app.js';

describeService(async (store, fallback) => {
  const app = createApp(createServiceLimiter(store, fallback));
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return { target: { host: '127.0.0.1', port }, close: async () => void (await app.close()) };
});

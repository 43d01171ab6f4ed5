import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Listen, RunningApp } from './framework.js';

/** Serves a listener such as an Express app or `koa.callback()`. */
export async function serve(listener: RequestListener, listen: Listen): Promise<RunningApp> {
  const server = createServer(listener);
  if (listen === 'port') server.listen(0, '127.0.0.1');
  else server.listen(listen.socketPath);
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  if (listen !== 'port') return { target: listen, close };
  const { port } = server.address() as AddressInfo;
  return { target: { host: '127.0.0.1', port }, close };
}

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLimiter, type Limiter } from '@rl/core';
import { statusPage } from '@rl/express';
import express from 'express';

/** A key as a client might send it to get into the page of whoever looks at it. */
export const HOSTILE_KEY = '<img src=x onerror="window.stolen=1">';

/** One replica of a service with a few tenants, of which `globex` is over its quota. */
export interface Scene {
  readonly limiter: Limiter<'tenant' | 'search'>;
  readonly url: string;
  /** Stops listening and ends connections; `start` listens at the same address again. */
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** @param others further tenants and their calls */
export async function openScene(others: Readonly<Record<string, number>> = {}): Promise<Scene> {
  const limiter = createLimiter({
    policies: {
      tenant: { limit: 60, window: '1h', keyClass: 'paid' },
      search: { limit: 10, window: '1m', shadow: true },
    },
  });
  const calls = { acme: 41, globex: 307, initech: 18, umbrella: 9, ...others };
  for (const [key, count] of Object.entries(calls)) {
    for (let i = 0; i < count; i++) limiter.tryConsume({ tenant: key });
  }
  for (let i = 0; i < 14; i++) limiter.tryConsume({ search: 'acme' });

  const app = express();
  app.use('/ratelimit', statusPage({ limiters: limiter, allow: () => true, showKeys: true }));
  const server = createServer(app);
  const port = await listen(server, 0);
  return {
    limiter,
    url: `http://127.0.0.1:${port}/ratelimit`,
    stop: () => stop(server),
    start: async () => void (await listen(server, port)),
    close: async () => {
      if (server.listening) await stop(server);
      await limiter.close();
    },
  };
}

async function listen(server: Server, port: number): Promise<number> {
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

async function stop(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

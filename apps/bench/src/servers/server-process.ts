/**
 * The program of the process of one server. It does as its parent says, and ends with the channel
 * between them: however the parent ends, no server stays behind.
 */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AppLimits } from './app.js';
import type { QuotaOrder, ServerMessage, ServerOrder } from './order.js';

/** How long closing may take where Redis is gone before the parent. */
const CLOSE_TIMEOUT_MS = 3000;

/** What was opened for a server, in the order it is to be closed. */
const closers: (() => Promise<unknown>)[] = [];

async function open(quota: QuotaOrder): Promise<AppLimits> {
  const opened = await (await import('./open-limits.js')).openLimits(quota);
  closers.push(...opened.closers);
  return opened.limits;
}

/** Loads one framework only: a replica has no other in memory either. */
async function makeServer({ app, quota }: ServerOrder): Promise<Server> {
  const limits = quota && (await open(quota));
  switch (app) {
    case 'express':
      return (await import('./express-app.js')).expressApp(limits);
    case 'fastify':
      return (await import('./fastify-app.js')).fastifyApp(limits);
    case 'koa':
      return (await import('./koa-app.js')).koaApp(limits);
  }
}

function send(message: ServerMessage): void {
  if (process.connected) process.send?.(message);
}

process.once('message', async (order) => {
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    send({ cpuUs: user + system });
  });
  const server = await makeServer(order as ServerOrder);
  // Connections are kept from round to round, also where another server's turn takes long.
  server.keepAliveTimeout = 0;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  send({ port: (server.address() as AddressInfo).port });
});

// Ctrl-C reaches the whole process group, but only the parent decides what it means.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});
process.once('disconnect', async () => {
  setTimeout(() => process.exit(1), CLOSE_TIMEOUT_MS).unref();
  for (const close of closers) await close();
  process.exit();
});

import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { Load } from '../src/load.js';

const servers: Server[] = [];
const load = { current: new Load() };

afterEach(async () => {
  load.current.close();
  load.current = new Load();
  for (const server of servers.splice(0)) {
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  }
});

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

test('200 is admitted, 429 is denied', async () => {
  const port = await serve((request, response) => {
    response.statusCode = request.url === '/shared' ? 429 : 200;
    response.end();
  });
  await load.current.beat([port]);
  const none = { failed: 0, failures: new Map() };
  expect(load.current.tallies()).toEqual({
    perReplica: { sent: 12, admitted: 12, denied: 0, ...none },
    shared: { sent: 12, admitted: 0, denied: 12, ...none },
  });
});

test('all other answers, and none at all, are failures with their reasons', async () => {
  const port = await serve((request, response) => {
    if (request.url === '/shared') response.destroy();
    else response.writeHead(500).end('the store is away');
  });
  await load.current.beat([port]);
  const { perReplica, shared } = load.current.tallies();
  expect(perReplica).toMatchObject({ sent: 12, admitted: 0, denied: 0, failed: 12 });
  expect([...perReplica.failures]).toEqual([['HTTP 500: the store is away', 12]]);
  expect(shared).toMatchObject({ sent: 12, admitted: 0, denied: 0, failed: 12 });
  expect([...shared.failures]).toEqual([['socket hang up', 12]]);
});

test('the replicas take turns, over as many beats as it takes', async () => {
  const counts = [0, 0, 0, 0, 0];
  const ports = await Promise.all(
    counts.map((_, i) =>
      serve((_request, response) => {
        counts[i] = (counts[i] ?? 0) + 1;
        response.end();
      }),
    ),
  );
  for (let i = 0; i < 5; i++) await load.current.beat(ports);
  expect(load.current.sent).toBe(60);
  expect(counts).toEqual([24, 24, 24, 24, 24]);
});

test('three clients with the key of one customer, each with its own sockets, kept alive', async () => {
  const keys = new Set<unknown>();
  const sockets = new Set<unknown>();
  const port = await serve((request, response) => {
    keys.add(request.headers['x-api-key']);
    sockets.add(request.socket);
    response.end();
  });
  for (let i = 0; i < 4; i++) await load.current.beat([port]);
  expect([...keys]).toEqual(['acme']);
  expect(sockets.size).toBe(24);
});

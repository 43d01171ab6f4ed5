import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import websocket from '@fastify/websocket';
import { useStores } from '@rl/adapter-suite';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { rateLimit } from '../src/index.js';
import { targetOf, useApps } from './new-apps.js';

const newApp = useApps();
const stores = useStores('memory');

/** An app whose route /ws answers "hello" to each socket, and where it listens. */
async function start(override: boolean): Promise<{ port: number; upgraded: string[] }> {
  const app = newApp();
  const upgraded: string[] = [];
  await app.register(websocket);
  await app.register(rateLimit, { store: stores.frozen().store, limit: 5, window: '60s' });
  const rl = {
    override,
    limit: 100,
    window: '60s',
    key: ({ headers }: { headers: Record<string, unknown> }) => String(headers['x-client']),
  } as const;
  app.get('/ws', { websocket: true, config: { rl } }, (socket, request) => {
    upgraded.push(String(request.headers['x-client']));
    socket.send('hello');
  });
  const { port } = (await targetOf(app)) as { port: number };
  return { port, upgraded };
}

/** What a client gets: the first message, or the status and whether its connection was closed. */
async function askForUpgrade(port: number, client: number): Promise<string> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, {
    headers: { 'x-client': `${client}` },
  });
  return new Promise((resolve, reject) => {
    socket.once('message', (data) => {
      socket.once('close', () => resolve(String(data)));
      socket.close();
    });
    socket.once('unexpected-response', (request, response) => {
      // The client ends nothing by itself: it waits for the server to.
      response.resume();
      response.socket.once('close', () => {
        resolve(`${response.statusCode} ${response.headers['retry-after']}`);
        request.destroy();
      });
    });
    socket.once('error', reject);
  });
}

async function askInTurn(port: number): Promise<string[]> {
  const seen: string[] = [];
  for (let client = 0; client < 10; client++) seen.push(await askForUpgrade(port, client));
  return seen;
}

test('F-04 the limit of the context holds for upgrades too: those above it get a 429', async () => {
  const { port, upgraded } = await start(false);
  const hellos = Array.from({ length: 5 }, () => 'hello');
  expect(await askInTurn(port)).toEqual([...hellos, ...Array(5).fill('429 12')]);
  expect(upgraded).toEqual(['0', '1', '2', '3', '4']);
});

test('F-04 with override only the limit of the route holds: all are upgraded', async () => {
  const { port, upgraded } = await start(true);
  expect(await askInTurn(port)).toEqual(Array(10).fill('hello'));
  expect(upgraded).toHaveLength(10);
});

test('F-04 the answer to a denied upgrade is whole, and its connection is closed at once', async () => {
  const { port } = await start(false);
  for (let client = 0; client < 5; client++) await askForUpgrade(port, client);
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(
    ['GET /ws HTTP/1.1', 'Host: a', 'Connection: Upgrade', 'Upgrade: websocket']
      .concat('Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==', '', '')
      .join('\r\n'),
  );
  // It ends by itself: otherwise this waits for ever.
  const answer = await text(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 429 /);
  expect(answer).toMatch(/"status":429/);
});

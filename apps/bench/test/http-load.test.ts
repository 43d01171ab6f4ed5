import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { HttpClosedLoop } from '../src/http-load/closed-loop.js';
import { runOpenLoop } from '../src/http-load/open-loop.js';
import { CLIENT_HEADER, encodeRequest } from '../src/http-load/request.js';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

const signal = new AbortController().signal;
const request = encodeRequest('tenant');

test('an open loop sends all there is, evenly, and counts what was answered by status', async () => {
  const served = [0, 0, 0];
  const clients = new Set<unknown>();
  const ports = await Promise.all(
    served.map((_, i) =>
      serve(({ headers }, res) => {
        clients.add(headers[CLIENT_HEADER]);
        res.statusCode = ++(served[i] as number) % 2 === 0 ? 429 : 200;
        res.end('body');
      }),
    ),
  );
  const run = await runOpenLoop({ ports, request, perSecond: 6000, runMs: 50, signal });
  expect(served).toEqual([100, 100, 100]);
  expect([...clients]).toEqual(['tenant']);
  expect(run).toMatchObject({ offered: 300, answered: 300 });
  expect(Object.fromEntries(run.byStatus)).toEqual({ 200: 150, 429: 150 });
});

test('an open loop ends without the answers of a server that fails', async () => {
  const port = await serve((_, res) => {
    res.socket?.destroy();
  });
  const run = await runOpenLoop({ ports: [port], request, perSecond: 1000, runMs: 10, signal });
  expect(run).toMatchObject({ offered: 10, answered: 0 });
});

test('an aborted open loop fails with the reason', async () => {
  const aborted = AbortSignal.abort(new Error('enough'));
  const port = await serve((_, res) => res.end());
  const load = { ports: [port], request, perSecond: 10, runMs: 60_000, signal: aborted };
  await expect(runOpenLoop(load)).rejects.toThrow('enough');
});

test('a closed loop has one request a connection under way, and counts all in every run', async () => {
  let served = 0;
  let underWay = 0;
  let most = 0;
  const port = await serve((_, res) => {
    most = Math.max(most, ++underWay);
    setImmediate(() => {
      underWay--;
      served++;
      res.end('body');
    });
  });
  const loop = await HttpClosedLoop.open(port, [request], 4);
  try {
    const first = await loop.run(0);
    expect(first.answered).toBe(4);
    const second = await loop.run(10);
    expect(second.answered).toBeGreaterThanOrEqual(4);
    expect(first.answered + second.answered).toBe(served);
    expect(most).toBeLessThanOrEqual(4);
  } finally {
    loop.close();
  }
});

test('a closed loop fails where a request is denied or the server goes away', async () => {
  const denying = await serve((_, res) => {
    res.statusCode = 429;
    res.end();
  });
  const loop = await HttpClosedLoop.open(denying, [request], 2);
  await expect(loop.run(10)).rejects.toThrow('a request was answered with 429');
  loop.close();

  const leaving = await serve((_, res) => {
    res.socket?.destroy();
  });
  const other = await HttpClosedLoop.open(leaving, [request], 2);
  await expect(other.run(10)).rejects.toThrow('the server closed the connection');
  await expect(other.run(10)).rejects.toThrow('the server closed the connection');
  other.close();
});

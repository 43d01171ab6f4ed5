import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  GraphQLError,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  graphql,
} from 'graphql';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { Gate, nodeReader, type RateLimitOptions, refuseUpgrade } from '../../src/http.js';
import { createLimiter } from '../../src/index.js';
import { readerOf } from './gates.js';

const ONE = { limit: 1, window: '1h' } as const;

test('F-08 a message handler: allow, deny, and no exception', async () => {
  const limiter = createLimiter({ policies: { sender: ONE } });
  const handled: string[] = [];
  const handle = async (message: { from: string; text: string }): Promise<boolean> => {
    const { allowed } = await limiter.consume({ sender: message.from });
    if (allowed) handled.push(message.text);
    return allowed;
  };
  expect(await handle({ from: 'ann', text: 'first' })).toBe(true);
  expect(await handle({ from: 'ann', text: 'second' })).toBe(false);
  expect(handled).toEqual(['first']);
});

test('F-08 a GraphQL resolver with a request and no response: allow, deny', async () => {
  interface Asked {
    readonly address: string;
  }
  const gate = new Gate<Asked>(
    ONE,
    readerOf(({ address }) => address),
  );
  const resolve = async (_: unknown, __: unknown, request: Asked): Promise<string> => {
    const refusal = (await gate.judge(request))?.refusal;
    if (refusal === undefined) return 'ok';
    const extensions = { code: 'RATE_LIMITED', http: { status: refusal.status } };
    throw new GraphQLError('Too many requests', { extensions });
  };
  const schema = new GraphQLSchema({
    query: new GraphQLObjectType({
      name: 'Query',
      fields: { me: { type: new GraphQLNonNull(GraphQLString), resolve } },
    }),
  });
  const ask = () =>
    graphql({ schema, source: '{ me }', contextValue: { address: '192.0.2.1' } satisfies Asked });
  expect(await ask()).toEqual({ data: { me: 'ok' } });
  const denied = await ask();
  expect(denied.data).toBeNull();
  expect(denied.errors?.[0]?.extensions).toEqual({ code: 'RATE_LIMITED', http: { status: 429 } });
});

describe('F-08 a websocket upgrade', () => {
  const open: (() => void)[] = [];
  afterEach(() => {
    for (const close of open.splice(0)) close();
  });

  /** A server whose app never sees an upgrade. */
  async function start(
    options: RateLimitOptions<IncomingMessage>,
    app?: RequestListener,
  ): Promise<{ server: Server; port: number }> {
    const gate = new Gate<IncomingMessage>(
      options,
      nodeReader(
        (request) => request,
        (request) => request.socket.remoteAddress,
      ),
    );
    const server = createServer(app);
    const sockets = new WebSocketServer({ noServer: true });
    server.on('upgrade', async (request, socket, head) => {
      // Node leaves its errors to us from here on.
      socket.on('error', () => socket.destroy());
      const verdict = await gate.judge(request);
      if (refuseUpgrade(socket, verdict)) return;
      sockets.handleUpgrade(request, socket, head, (peer) => peer.send('hello'));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    open.push(() => {
      for (const peer of sockets.clients) peer.terminate();
      server.close();
      server.closeAllConnections();
    });
    return { server, port: (server.address() as AddressInfo).port };
  }

  function upgrade(port: number): WebSocket {
    const client = new WebSocket(`ws://127.0.0.1:${port}`);
    client.on('error', () => undefined);
    open.push(() => client.terminate());
    return client;
  }

  test('allow, then 429 with headers and body, and the connection is closed', async () => {
    const app = vi.fn();
    const { server, port } = await start(ONE, app);
    const [greeting] = await once(upgrade(port), 'message');
    expect(String(greeting)).toBe('hello');
    const [, response] = await once(upgrade(port), 'unexpected-response');
    expect(response.statusCode).toBe(429);
    expect(response.statusMessage).toBe('Too Many Requests');
    expect(response.headers).toMatchObject({
      connection: 'close',
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'retry-after': '3600',
      ratelimit: '"default";r=0;t=3600',
    });
    expect(JSON.parse(await text(response))).toMatchObject({ status: 429 });
    const counted = new Promise((done) => server.getConnections((_, count) => done(count)));
    expect(await counted).toBe(1);
    expect(app).not.toHaveBeenCalled();
  });

  test('a body of any length, or none, is as long as it says', async () => {
    for (const [body, length] of [
      [() => 'très vite', 10],
      ['error', 0],
    ] as const) {
      const { port } = await start({ ...ONE, limit: 0, body });
      const [, response] = await once(upgrade(port), 'unexpected-response');
      expect(response.headers['content-length']).toBe(`${length}`);
      expect(Buffer.byteLength(await text(response))).toBe(length);
    }
  });

  test('a client that keeps its side open does not hold the connection', async () => {
    const { server, port } = await start({ ...ONE, limit: 0 });
    const accepted = once(server, 'connection');
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    open.push(() => client.destroy());
    client.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    const [socket] = await accepted;
    await once(socket, 'close');
    expect(await text(client)).toMatch(/^HTTP\/1\.1 429 Too Many Requests\r\n/);
  });

  test('a client that has gone before its refusal is no error', async () => {
    const decided: ((key: string) => void)[] = [];
    const key = () => new Promise<string>((resolve) => void decided.push(resolve));
    const { server, port } = await start({ ...ONE, limit: 0, key });
    const gone = upgrade(port);
    const [, socket] = await once(server, 'upgrade');
    socket.destroy();
    await new Promise((closed) => gone.once('close', closed));
    decided[0]?.('ann');
    const later = upgrade(port);
    await once(server, 'upgrade');
    decided[1]?.('bob');
    const [, response] = await once(later, 'unexpected-response');
    expect(response.statusCode).toBe(429);
  });
});

import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { text } from 'node:stream/consumers';
import { useStores } from '@rl/adapter-suite';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { rateLimit } from '../src/index.js';
import { targetOf, useApps } from './new-apps.js';

const newApp = useApps();
const stores = useStores('memory');
let client: ClientHttp2Session;
let arrived: () => void;
let arrival: Promise<void>;

beforeEach(async () => {
  arrival = new Promise((resolve) => {
    arrived = resolve;
  });
  const app = newApp({ http2: true } as never);
  const { store } = stores.frozen();
  await app.register(rateLimit, { store, limit: 2, window: '60s', refundWhen: 'failed' });
  app.get('/', () => 'ok');
  // Answers never.
  app.get('/slow', { config: { rl: { limit: 9, window: '60s' } } }, () => {
    arrived();
    return new Promise(() => {});
  });
  const { port } = (await targetOf(app)) as { port: number };
  client = connect(`http://127.0.0.1:${port}`);
});
afterEach(() => client.close());

function open(path: string): ClientHttp2Stream {
  return client.request({ ':path': path }).end();
}

async function ask(path = '/') {
  const stream = open(path);
  const [headers] = await once(stream, 'response');
  return { status: headers[':status'], headers, body: await text(stream) };
}

test('HTTP/2: allowed, told of, denied', async () => {
  const allowed = await ask();
  expect(allowed).toMatchObject({ status: 200, body: 'ok' });
  expect(allowed.headers.ratelimit).toBe('"default";r=1;t=30');
  expect((await ask()).status).toBe(200);
  const denied = await ask();
  expect(denied.status).toBe(429);
  expect(denied.headers).toMatchObject({
    'retry-after': '30',
    'content-type': 'application/problem+json',
  });
  expect(JSON.parse(denied.body)).toMatchObject({ status: 429 });
});

test('HTTP/2: a stream that the client resets before it is answered gets its permit back', async () => {
  const stream = open('/slow');
  await arrival;
  stream.close(8);
  await once(stream, 'close');
  // What is not found is given back too, so that asking changes nothing.
  const left = async () => (await ask('/missing')).headers.ratelimit;
  await vi.waitUntil(async () => (await left()) === '"default";r=1;t=30', { interval: 5 });
});

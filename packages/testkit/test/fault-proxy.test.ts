import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { sharedRedis, startFaultProxy, startRedis } from '../src/index.js';
import { whyNoAnswer } from '../src/ready.js';
import { useProxy, watch } from './use-proxy.js';

const FIXTURE = fileURLToPath(new URL('fixtures/end-with-an-open-proxy.mjs', import.meta.url));

const setting = useProxy();

/** What a connection of its own, once accepted, gets for a PING within 50 ms. */
async function askOnce(): Promise<'bytes' | 'an end' | 'nothing'> {
  const { host, port } = setting.proxy.connection as { host: string; port: number };
  const socket = connect({ host, port });
  await once(socket, 'connect');
  socket.write('PING\r\n');
  const outcome = await new Promise<'bytes' | 'an end' | 'nothing'>((resolve) => {
    socket.once('data', () => resolve('bytes'));
    socket.once('end', () => resolve('an end'));
    socket.setTimeout(50, () => resolve('nothing'));
  });
  socket.destroy();
  return outcome;
}

describe('without a fault', () => {
  test('it is the server, by connection and by url', async () => {
    const client = await setting.throughProxy();
    expect(await client.incr(setting.key)).toBe(1);
    const byUrl = new Redis(setting.proxy.url);
    expect(await byUrl.incr(setting.key)).toBe(2);
    byUrl.disconnect();
    expect(await setting.direct.get(setting.key)).toBe('2');
  });

  test('it counts connections and bytes', async () => {
    const client = await setting.throughProxy();
    const before = { ...setting.proxy.counters };
    await client.echo('x'.repeat(1_000_000));
    expect(before.connections).toBe(1);
    expect(setting.proxy.counters.bytesToServer - before.bytesToServer).toBeGreaterThan(1_000_000);
    expect(setting.proxy.counters.bytesToClient - before.bytesToClient).toBeGreaterThan(1_000_000);
    expect(setting.proxy.counters).toMatchObject({ connections: 1, cuts: 0 });
  });

  test('a unix socket is a target too', async () => {
    const server = await startRedis({ listen: 'socket' });
    const toSocket = await startFaultProxy(server);
    expect(await whyNoAnswer(toSocket, 5_000)).toBeUndefined();
    await server.close();
    expect(await whyNoAnswer(toSocket, 5_000)).toBeDefined();
    await toSocket.close();
  });

  test('QUIT is answered and the connection ended', async () => {
    const client = await setting.throughProxy();
    const ended = once(client, 'end');
    expect(await client.quit()).toBe('OK');
    await ended;
    expect(setting.proxy.counters.cuts).toBe(0);
  });

  test('TLS is refused', async () => {
    const failure = startFaultProxy({ connection: { host: 'h', port: 1, tls: {} } });
    await expect(failure).rejects.toThrow(/^target must be a Redis without TLS/);
  });
});

describe('delay', () => {
  test('both ways add up', async () => {
    const client = await setting.throughProxy();
    setting.proxy.delay({ toServerMs: 40, toClientMs: 40 });
    const startMs = performance.now();
    await client.ping();
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(80);
  });

  test('on the way to the client the server has decided long before the reply', async () => {
    const client = await setting.throughProxy({ autoResendUnfulfilledCommands: false });
    setting.proxy.delay({ toClientMs: 600_000 });
    const reply = watch(client.incr(setting.key));
    await setting.until(async () => (await setting.direct.get(setting.key)) === '1');
    expect(reply.settled).toBe(false);
  });

  test('on the way to the server nothing has happened yet', async () => {
    const client = await setting.throughProxy();
    setting.proxy.delay({ toServerMs: 600_000 });
    const first = watch(client.incr(setting.key));
    await setting.readByProxy();
    setting.proxy.delay({});
    const second = watch(client.incr(setting.key)); // not delayed, but behind the first
    await setting.readByProxy();
    expect(await whyNoAnswer(setting.proxy, 5_000)).toBeUndefined();
    expect(await setting.direct.get(setting.key)).toBeNull();
    expect([first.settled, second.settled]).toEqual([false, false]);
  });

  test('changed at run time, it keeps the order', async () => {
    const client = await setting.throughProxy();
    const replies: Promise<number>[] = [];
    for (const toServerMs of [50, 0, 20, 0]) {
      setting.proxy.delay({ toServerMs, toClientMs: 50 - toServerMs });
      for (let n = 0; n < 10; n += 1) replies.push(client.incr(setting.key));
      await setting.readByProxy();
    }
    expect(await Promise.all(replies)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
  });

  test.each([-1, Number.NaN, 2 ** 31, '80' as unknown as number])('refuses %s', (toClientMs) => {
    expect(() => setting.proxy.delay({ toClientMs })).toThrow(
      `toClientMs must be a number from 0 to 2147483647, not ${toClientMs}`,
    );
  });
});

test('cut: every connection is lost, the next ones work', async () => {
  const two = [await setting.throughProxy(), await setting.throughProxy()];
  const lost = Promise.all(two.map((client) => once(client, 'close')));
  setting.proxy.cut();
  await lost;
  expect(await Promise.all(two.map((client) => client.ping()))).toEqual(['PONG', 'PONG']);
  expect(setting.proxy.counters).toMatchObject({ connections: 4, cuts: 2 });
});

describe('refuse', () => {
  test('nobody listens until accept, and then on the same port', async () => {
    const client = await setting.throughProxy();
    const { url } = setting.proxy;
    const lost = once(client, 'close');
    await setting.proxy.refuse();
    await lost;
    await setting.proxy.refuse();
    expect(await whyNoAnswer(setting.proxy, 5_000)).toContain('ECONNREFUSED');
    await setting.proxy.accept();
    await setting.proxy.accept();
    expect(setting.proxy.url).toBe(url);
    expect(await client.ping()).toBe('PONG');
    expect(setting.proxy.counters.cuts).toBe(1);
  });

  test('accept fails where the port is taken, and can be tried again', async () => {
    await setting.proxy.refuse();
    const other = createServer().listen(
      setting.proxy.connection.port,
      setting.proxy.connection.host,
    );
    await once(other, 'listening');
    await expect(setting.proxy.accept()).rejects.toThrow('EADDRINUSE');
    other.close();
    await once(other, 'close');
    await setting.proxy.accept();
    expect(await whyNoAnswer(setting.proxy, 5_000)).toBeUndefined();
  });
});

describe('blackhole', () => {
  afterEach(() => vi.useRealTimers());

  test('nothing is answered and nothing reaches the server; healed, new connections work', async () => {
    const client = await setting.throughProxy({ autoResendUnfulfilledCommands: false });
    setting.proxy.blackhole();
    const swallowed = watch(client.incr(setting.key));
    expect(await askOnce()).toBe('nothing');
    expect(swallowed.settled).toBe(false);
    const lost = once(client, 'close');
    setting.proxy.heal();
    await lost;
    expect(await client.ping()).toBe('PONG');
    expect(await setting.direct.get(setting.key)).toBeNull();
  });

  test('a reply on its way is swallowed too', async () => {
    const client = await setting.throughProxy();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    setting.proxy.delay({ toClientMs: 50 });
    for (const blackholed of [false, true]) {
      const before = setting.proxy.counters.bytesToClient;
      const reply = watch(client.incr(setting.key));
      const decided = blackholed ? '2' : '1';
      await setting.until(async () => (await setting.direct.get(setting.key)) === decided);
      await setting.readByProxy();
      if (blackholed) setting.proxy.blackhole();
      vi.advanceTimersByTime(49);
      expect(setting.proxy.counters.bytesToClient).toBe(before);
      vi.advanceTimersByTime(1);
      expect(setting.proxy.counters.bytesToClient > before).toBe(!blackholed);
      await setting.readByProxy();
      expect(reply.settled).toBe(!blackholed);
    }
  });

  test('heal without a black hole leaves the connections alone', async () => {
    await setting.throughProxy();
    setting.proxy.heal();
    expect(setting.proxy.counters.cuts).toBe(0);
  });
});

describe('close', () => {
  test('ends everything, twice if asked, and for good', async () => {
    const client = await setting.throughProxy();
    const lost = once(client, 'close');
    await setting.proxy.close();
    await setting.proxy.close();
    await lost;
    expect(await whyNoAnswer(setting.proxy, 5_000)).toContain('ECONNREFUSED');
    await expect(setting.proxy.accept()).rejects.toThrow('the fault proxy is closed');
    expect(setting.proxy.counters.cuts).toBe(0);
  });

  test('a process ends without it, connections or not', async () => {
    const child = fork(FIXTURE, [JSON.stringify((await sharedRedis()).connection)]);
    const [connection] = await once(child, 'message');
    const client = new Redis({ ...connection, retryStrategy: () => null });
    await once(client, 'ready');
    const [exited, ended] = [once(child, 'exit'), once(client, 'end')];
    child.send('end');
    expect(await exited).toEqual([0, null]);
    await ended;
  });
});

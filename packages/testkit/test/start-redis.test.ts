import { createServer } from 'node:net';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { freePort } from '../src/free-port.js';
import { type RedisHandle, type RedisServer, startRedis } from '../src/index.js';
import { whyNoAnswer } from '../src/ready.js';

/** One conversation on a connection of its own, without a second try. */
async function talk<T>(server: RedisHandle, use: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis({ ...server.connection, retryStrategy: () => null });
  redis.on('error', () => {}); // the command fails with it
  try {
    return await use(redis);
  } finally {
    redis.disconnect();
  }
}

describe.each(['port', 'socket'] as const)('a server on a %s', (listen) => {
  let server: RedisServer;

  beforeEach(async () => {
    server = await startRedis({ listen });
  });

  afterEach(() => server.close());

  test('answers, by its url and by its connection', async () => {
    expect(await talk(server, (redis) => redis.ping())).toBe('PONG');
    const byUrl = new Redis(server.url);
    expect(await byUrl.ping()).toBe('PONG');
    byUrl.disconnect();
  });

  test('does not persist', async () => {
    const settings = await talk(server, (redis) => redis.config('GET', 'save', 'appendonly'));
    expect(settings).toEqual(expect.arrayContaining(['save', '', 'appendonly', 'no']));
  });

  test('paused, it keeps its connections and answers none; resumed, it answers all', async () => {
    const redis = new Redis({ ...server.connection });
    await redis.set('kept', '1');
    await server.pause();
    let answered = false;
    const answer = redis.get('kept').finally(() => {
      answered = true;
    });
    // Proven by a command with a deadline: of the two, only the deadline can end it.
    const impatient = new Redis({ ...server.connection, commandTimeout: 50 });
    impatient.on('error', () => {}); // the command fails with it
    await expect(impatient.ping()).rejects.toThrow();
    impatient.disconnect();
    expect(answered).toBe(false);
    await server.resume();
    expect(await answer).toBe('1');
    redis.disconnect();
  });

  test('stopped, it is gone; restarted, it has the same address and is empty', async () => {
    const { url, connection } = server;
    await talk(server, (redis) => redis.set('gone', '1'));
    await server.stop();
    expect(await whyNoAnswer(server, 5_000)).toBeDefined();
    await server.stop();
    await server.restart();
    expect({ url: server.url, connection: server.connection }).toEqual({ url, connection });
    expect(await talk(server, (redis) => redis.dbsize())).toBe(0);
  });

  test('a running one can be restarted too', async () => {
    await talk(server, (redis) => redis.set('gone', '1'));
    await server.restart();
    expect(await talk(server, (redis) => redis.dbsize())).toBe(0);
  });

  test('a paused one can be stopped', async () => {
    await server.pause();
    await server.stop();
    expect(await whyNoAnswer(server, 5_000)).toBeDefined();
  });

  test('killed, it is gone and can be restarted', async () => {
    await server.kill();
    expect(await whyNoAnswer(server, 5_000)).toBeDefined();
    await server.restart();
    expect(await talk(server, (redis) => redis.ping())).toBe('PONG');
  });

  test('closed twice, it is gone and cannot come back', async () => {
    await server.close();
    await server.close();
    expect(await whyNoAnswer(server, 5_000)).toBeDefined();
    await expect(server.restart()).rejects.toThrow();
  });
});

describe('startRedis', () => {
  test('passes further arguments on', async () => {
    const server = await startRedis({ args: ['--maxmemory', '10mb'] });
    const setting = await talk(server, (redis) => redis.config('GET', 'maxmemory'));
    await server.close();
    expect(setting).toEqual(['maxmemory', String(10 * 1024 * 1024)]);
  });

  test('gives every server a place of its own', async () => {
    const servers = await Promise.all([startRedis(), startRedis(), startRedis()]);
    await Promise.all(servers.map((server) => server.close()));
    expect(new Set(servers.map(({ url }) => url)).size).toBe(3);
  });

  test('a port that another program took meanwhile is exchanged', async () => {
    const other = createServer((socket) => socket.resume()); // takes everything, answers nothing
    const taken = await new Promise<number>((resolve) => {
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port));
    });
    const ports = [taken, await freePort()];
    const server = await startRedis({}, async () => ports.shift() as number);
    const { port } = server.connection;
    await server.close();
    await new Promise((resolve) => other.close(resolve));
    expect(port).not.toBe(taken);
  });

  test('a port that another Redis took meanwhile is exchanged', async () => {
    const other = await startRedis();
    const taken = other.connection.port as number;
    const ports = [taken, await freePort()];
    const server = await startRedis({}, async () => ports.shift() as number);
    const { port } = server.connection;
    await Promise.all([server.close(), other.close()]);
    expect(port).not.toBe(taken);
  });

  test('a server that does not start fails with what it printed', async () => {
    const failure = startRedis({ args: ['--no-such-setting', '1'] });
    await expect(failure).rejects.toThrow(/no-such-setting/);
  });

  test('refuses an unknown way to listen', async () => {
    const failure = startRedis({ listen: 'pipe' as 'port' });
    await expect(failure).rejects.toThrow(`listen must be 'port' or 'socket', not "pipe"`);
  });
});

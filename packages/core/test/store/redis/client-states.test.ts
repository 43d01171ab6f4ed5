import { startFaultProxy } from '@rl/testkit';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { afterEach, describe, expect, it } from 'vitest';
import { isRateLimitError } from '../../../src/errors.js';
import { parsePolicy } from '../../../src/policy/policy.js';
import type { RedisClient } from '../../../src/store/redis/client.js';
import { ClientGate } from '../../../src/store/redis/client-gate.js';
import { type RedisStore, redisStore } from '../../../src/store/redis/redis-store.js';
import { ManualClock } from '../../../src/testing/manual-clock.js';
import { closedPort } from '../../support/ports.js';
import { commandCalls, useOwn } from '../../support/redis.js';

const HOURLY = parsePolicy('hourly', { limit: 1000, window: '1h' }, '');
const own = useOwn();

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const each of undo.splice(0).reverse()) await each();
});

const CLIENTS = [
  ['5', Redis5 as unknown as typeof Redis],
  ['6', Redis],
] as const;

function connect(Client: typeof Redis, options: Omit<RedisOptions, 'replyMapping'>): Redis {
  const client = new Client(options).on('error', () => {});
  undo.push(() => client.disconnect());
  return client;
}

async function proxied() {
  const proxy = await startFaultProxy(own.server);
  undo.push(() => proxy.close());
  return proxy;
}

/** Asks in `times` turns of the event loop, so in as many calls. */
async function ask(store: RedisStore, times: number): Promise<Promise<unknown>[]> {
  const asked: Promise<unknown>[] = [];
  for (let i = 0; i < times; i++) {
    const answer = store.consume(HOURLY, 'k', 1).catch((error: unknown) => error);
    asked.push(answer);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return asked;
}

const isPending = (promise: Promise<unknown>) => {
  const PENDING = {};
  const turn = new Promise((resolve) => setImmediate(() => resolve(PENDING)));
  return Promise.race([promise, turn]).then((first) => first === PENDING);
};

describe.each(CLIENTS)('with ioredis %s', (_, Client) => {
  it('O-01 while the client is reconnecting, 100 calls are all refused at once', async () => {
    const client = connect(Client, { port: await closedPort(), retryStrategy: () => 60_000 });
    await expect.poll(() => client.status).toBe('reconnecting');
    const store = redisStore(client);
    const asked = await ask(store, 100);
    for (const answer of asked) {
      expect(await isPending(answer)).toBe(false);
      expect(await answer).toMatchObject({
        code: 'RL_STORE_FAILED',
        fault: 'connection',
        retryable: true,
        message: expect.stringContaining('reconnecting (status "reconnecting")'),
      });
    }
  });

  it('what was refused is not charged later', async () => {
    const proxy = await proxied();
    let delayMs = 60_000;
    const client = connect(Client, { ...proxy.connection, retryStrategy: () => delayMs });
    const store = redisStore(client);
    await store.consume(HOURLY, 'k', 1);
    await proxy.refuse();
    await expect.poll(() => client.status).toBe('reconnecting');
    for (const answer of await ask(store, 20)) expect(isRateLimitError(await answer)).toBe(true);
    await proxy.accept();
    delayMs = 1;
    await client.connect();
    expect(await store.consume(HOURLY, 'k', 1)).toMatchObject({ allowed: true, remaining: 998 });
  });

  it('a client that has ended says so, and nothing is handed to it', async () => {
    const client = connect(Client, { ...own.server.connection });
    const store = redisStore(client);
    await store.consume(HOURLY, 'k', 1);
    client.disconnect();
    await expect.poll(() => client.status).toBe('end');
    const [answer] = await ask(store, 1);
    expect(await answer).toMatchObject({
      fault: 'connection',
      message:
        'the store could not decide: the client has ended and will not come back: ' +
        'it was closed, or its retryStrategy gave up (status "end")',
    });
  });

  it('a lazy client is asked, and connects for it', async () => {
    const client = connect(Client, { ...own.server.connection, lazyConnect: true });
    expect(client.status).toBe('wait');
    expect(await redisStore(client).consume(HOURLY, 'k', 1)).toMatchObject({ remaining: 999 });
  });

  it('while it connects, 100 calls wait in it and no more', async () => {
    const proxy = await proxied();
    proxy.blackhole();
    const client = connect(Client, { ...proxy.connection, retryStrategy: () => 1 });
    await expect.poll(() => client.status).toBe('connect');
    const asked = await ask(redisStore(client), 150);
    const pending = await Promise.all(asked.map(isPending));
    expect(pending.indexOf(false)).toBe(100);
    expect(pending.lastIndexOf(true)).toBe(99);
    expect(await asked[149]).toMatchObject({
      fault: 'connection',
      message: expect.stringContaining('(status "connect") and 100 calls wait in it'),
    });
    proxy.heal();
    const answers = await Promise.all(asked);
    expect(answers.slice(0, 100)).toMatchObject(
      Array.from({ length: 100 }, (_, i) => ({ allowed: true, remaining: 999 - i })),
    );
  });
});

describe('a Cluster', () => {
  it('O-01 without a node to be had: refused at once, in each of its states', async () => {
    const client = new Cluster([{ host: '127.0.0.1', port: await closedPort() }], {
      clusterRetryStrategy: () => 60_000,
    }).on('error', () => {});
    undo.push(() => client.disconnect());
    const store = redisStore(client);
    await expect.poll(() => client.status).toBe('reconnecting');
    const says = [];
    for (const answer of await ask(store, 100)) {
      expect(await isPending(answer)).toBe(false);
      says.push(await answer);
    }
    client.disconnect();
    expect(client.status).toBe('disconnecting');
    says.push(await (await ask(store, 1))[0]);
    for (const failure of says) expect(failure).toMatchObject({ fault: 'connection' });
    expect(String(says.at(-1))).toContain('disconnecting');
  });
});

describe('the way to a client', () => {
  /** A client that says it is `status` and has `error` for every call. */
  const failing = (status: string | undefined, error: Error, more: Partial<RedisClient> = {}) => {
    const reconnects: (boolean | undefined)[] = [];
    const call = () => Promise.reject(error);
    const client: RedisClient = {
      ...(status !== undefined && { status }),
      evalsha: call,
      eval: call,
      disconnect: (reconnect) => reconnects.push(reconnect),
      ...more,
    };
    return { client, reconnects };
  };
  const DEMOTED = new Error("READONLY You can't write against a read only replica.");

  it('S-09 a demoted primary: a new connection, at most every 2 s', () => {
    const { client, reconnects } = failing('ready', DEMOTED);
    const clock = new ManualClock();
    const gate = new ClientGate(client, clock);
    for (let atMs = 0; atMs <= 4000; atMs += 100) {
      gate.failed(DEMOTED);
      clock.advance(100);
    }
    expect(reconnects).toEqual([true, true, true]);
  });

  it.each([
    ['another fault', 'ready', new Error('OOM command not allowed'), {}],
    ['a Cluster', 'ready', DEMOTED, { isCluster: true }],
    ['a client that does so already', 'reconnecting', DEMOTED, {}],
    ['a client that does not tell its status', undefined, DEMOTED, {}],
  ])('%s is left as it is', (_, status, error, more) => {
    const { client, reconnects } = failing(status, error, more);
    new ClientGate(client, new ManualClock()).failed(error);
    expect(reconnects).toEqual([]);
  });

  it('a client that does not tell its status is handed everything', async () => {
    const { client } = failing(undefined, new Error('LOADING'));
    for (const answer of await ask(redisStore(client), 300)) {
      expect(await answer).toMatchObject({ fault: 'unavailable' });
    }
  });

  it('a script that was refused on its way is not taken for one the server knows', async () => {
    const client = connect(Redis, { ...own.server.connection, lazyConnect: true });
    const state = { status: 'reconnecting' };
    const store = redisStore({
      get status() {
        return state.status;
      },
      evalsha: (sha1, count, ...rest) => client.evalsha(sha1, count, ...rest),
      eval: (text, count, ...rest) => client.eval(text, count, ...rest),
    });
    await expect(store.consume(HOURLY, 'k', 1)).rejects.toMatchObject({ fault: 'connection' });
    state.status = 'ready';
    expect(await store.consume(HOURLY, 'k', 1)).toMatchObject({ remaining: 999 });
    const calls = await commandCalls(own.client);
    expect(calls.eval).toBe(1);
    expect(calls).not.toHaveProperty('evalsha');
  });
});

describe('close', () => {
  it('ends in a second or so where the server never answers, and what waits fails', async () => {
    const proxy = await proxied();
    const client = connect(Redis, proxy.connection);
    const store = redisStore(client);
    await store.consume(HOURLY, 'k', 1);
    await store.heartbeat();
    proxy.blackhole();
    const log = parsePolicy('log', { algorithm: 'sliding-log', limit: 9, window: '1h' }, '');
    const waiting = [
      store.consume(HOURLY, 'k', 1),
      store.consumeAll([
        { policy: HOURLY, key: 'a', cost: 1 },
        { policy: log, key: 'a', cost: 1 },
      ]),
    ].map((answer) => answer.catch((error: unknown) => error));
    await store.close();
    for (const answer of waiting) {
      expect(await answer).toMatchObject({
        code: 'RL_STORE_FAILED',
        fault: 'timeout',
        message: 'the store could not decide: no answer within 1000 ms of closing',
      });
    }
    await store.close();
  });

  it('where it gives up, what is to be put back fails too', async () => {
    let calls = 0;
    const store = redisStore({
      isCluster: true, // so that the keys go out one after the other
      evalsha: () => new Promise(() => {}),
      eval: (text, count, ...rest) => {
        calls++;
        return calls === 1 ? own.client.eval(text, count, ...rest) : new Promise(() => {});
      },
    });
    const charges = ['a', 'b'].map((key) => ({ policy: HOURLY, key, cost: 1 }));
    const waiting = store.consumeAll(charges).catch((error: unknown) => error);
    await expect.poll(() => own.client.exists('rl:{a}:hourly:tb1')).toBe(1);
    await store.close();
    expect(await waiting).toMatchObject({ code: 'RL_STORE_FAILED', fault: 'timeout' });
  });
});

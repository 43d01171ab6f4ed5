import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRateLimitError } from '../../../src/errors.js';
import { parsePolicy } from '../../../src/policy/policy.js';
import type { RedisClient } from '../../../src/store/redis/client.js';
import { redisStore } from '../../../src/store/redis/redis-store.js';
import { keysOf, openShared } from '../../support/redis.js';

const HOURLY = parsePolicy('hourly', { limit: 5, window: '1h' }, '');
let shared: Awaited<ReturnType<typeof openShared>>;
beforeAll(async () => {
  shared = await openShared();
});
afterAll(() => shared.close());

describe.each([
  ['5', Redis5 as unknown as typeof Redis],
  ['6', Redis],
])('with ioredis %s', (version, Client) => {
  it('decides, refunds and resets, and leaves nothing on the client', async () => {
    const client = new Client(shared.url);
    await client.ping();
    const own = Object.getOwnPropertyNames(client).sort();
    const inherited = Object.getOwnPropertyNames(Object.getPrototypeOf(client)).sort();
    const store = redisStore(client, { prefix: `${shared.prefix}client${version}` });
    const remaining = [];
    for (const cost of [1, 1, 0, 3, 1]) {
      const decision = await store.consume(HOURLY, 'k', cost);
      remaining.push([decision.allowed, decision.remaining]);
    }
    expect(remaining).toEqual([
      [true, 4],
      [true, 3],
      [true, 3],
      [true, 0],
      [false, 0],
    ]);
    expect(await store.refund(HOURLY, 'k', 2, undefined)).toMatchObject({
      remaining: 2,
      origin: 'store',
    });
    await store.reset(HOURLY, 'k');
    expect(await store.consume(HOURLY, 'k', 1)).toMatchObject({ remaining: 4 });
    expect(Object.getOwnPropertyNames(client).sort()).toEqual(own);
    expect(Object.getOwnPropertyNames(Object.getPrototypeOf(client)).sort()).toEqual(inherited);
    await store.close();
    await client.quit();
  });

  it('takes the numbers of a client that gives texts', async () => {
    const client = new Client(shared.url, { stringNumbers: true });
    const store = redisStore(client, { prefix: `${shared.prefix}texts${version}` });
    expect(await store.consume(HOURLY, 'k', 2)).toMatchObject({ allowed: true, remaining: 3 });
    expect(await store.consume(HOURLY, 'k', 4)).toMatchObject({ allowed: false, remaining: 3 });
    await client.quit();
  });

  it('works behind a key prefix of the client, and with auto-pipelining', async () => {
    const keyPrefix = `${shared.prefix}of-client${version}:`;
    const client = new Client(shared.url, { keyPrefix, enableAutoPipelining: true });
    const store = redisStore(client);
    const decisions = await Promise.all(
      Array.from({ length: 20 }, (_, i) => store.consume(HOURLY, `k${i % 2}`, 1)),
    );
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(10);
    expect((await keysOf(shared.client, keyPrefix)).sort()).toEqual([
      `${keyPrefix}rl:{k0}:hourly:tb1`,
      `${keyPrefix}rl:{k1}:hourly:tb1`,
    ]);
    await store.reset(HOURLY, 'k0');
    expect(await store.consume(HOURLY, 'k0', 1)).toMatchObject({ allowed: true, remaining: 4 });
    await store.close();
    await client.quit();
  });
});

describe('keys', () => {
  it('K-07 each distinct text has its own bucket under a short ASCII key', async () => {
    const policy = parsePolicy('odd', { limit: 1, window: '1h' }, '');
    const long = 'x'.repeat(300);
    const texts = [
      'x'.repeat(2 ** 20),
      `${long}a`,
      `${long}b`,
      'a b',
      'a\r\nb',
      'a\u0000b',
      '\u00e9',
      'e\u0301',
      '😀',
      '\ud83d',
      '\ude00',
      '%',
      '{',
      '}{',
      '{}',
      'a{b}c',
      'x{b}y',
    ];
    const first = await Promise.all(texts.map((text) => shared.store.consume(policy, text, 1)));
    const second = await Promise.all(texts.map((text) => shared.store.consume(policy, text, 1)));
    expect(first.map(({ allowed }) => allowed)).toEqual(texts.map(() => true));
    expect(second.map(({ allowed }) => allowed)).toEqual(texts.map(() => false));
    const stored = (await keysOf(shared.client, shared.prefix)).filter((k) => k.includes(':odd:'));
    expect(stored).toHaveLength(texts.length);
    for (const key of stored) {
      expect(key).toMatch(/^[!-~]{1,339}$/);
      expect(key.match(/[{}]/g)).toEqual(['{', '}']);
    }
  });

  it('every key has an expiry, also one that lost it (G5)', async () => {
    const policy = parsePolicy('ttl', { limit: 10, window: '10s' }, '');
    const key = `${shared.prefix}:{k}:ttl:tb1`;
    await shared.store.consume(policy, 'k', 5);
    expect(await shared.client.pttl(key)).toBeGreaterThan(0);
    expect(await shared.client.pttl(key)).toBeLessThanOrEqual(5000);
    await shared.client.persist(key);
    expect(await shared.client.pttl(key)).toBe(-1);
    await shared.store.consume(policy, 'k', 1);
    expect(await shared.client.pttl(key)).toBeGreaterThan(0);
  });

  it('a look, a denial and a refund of an untouched bucket leave no key', async () => {
    const policy = parsePolicy('none', { limit: 2, window: '1h' }, '');
    await shared.store.consume(policy, 'k', 0);
    await shared.store.consume(policy, 'k', 3);
    await shared.store.refund(policy, 'k', 1, undefined);
    expect(await shared.client.exists(`${shared.prefix}:{k}:none:tb1`)).toBe(0);
  });

  it('a bucket is gone once it is full again', async () => {
    const policy = parsePolicy('brief', { limit: 1, window: '40ms' }, '');
    await shared.store.consume(policy, 'k', 1);
    await expect
      .poll(() => shared.client.exists(`${shared.prefix}:{k}:brief:tb1`), { interval: 10 })
      .toBe(0);
    expect(await shared.store.consume(policy, 'k', 1)).toMatchObject({ allowed: true });
  });

  it.each([
    ['hash', (client: Redis, key: string) => client.hset(key, 'tokens', '5')],
    ['list', (client: Redis, key: string) => client.rpush(key, 'a')],
    ['sorted set', (client: Redis, key: string) => client.zadd(key, 1, 'a')],
    ['short text', (client: Redis, key: string) => client.set(key, '17')],
    ['text of the right length', (client: Redis, key: string) => client.set(key, 'x'.repeat(24))],
    ['NaN', (client: Redis, key: string) => client.set(key, Buffer.alloc(24, 0xff))],
  ])('a %s at our key is a full bucket, and is replaced', async (name, write) => {
    const policy = parsePolicy('foreign', { limit: 5, window: '1h' }, '');
    await write(shared.client, `${shared.prefix}:{${name.replaceAll(' ', '%0020')}}:foreign:tb1`);
    const decisions = [];
    for (let i = 0; i < 10; i++) decisions.push(await shared.store.consume(policy, name, 1));
    expect(decisions.map(({ remaining }) => remaining)).toEqual([4, 3, 2, 1, 0, 0, 0, 0, 0, 0]);
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(5);
  });
});

describe('faults', () => {
  /** The real client with one of its methods replaced: the only way to have a wrong answer. */
  const faulty = (answer: RedisClient['evalsha']): RedisClient => ({
    evalsha: answer,
    eval: answer,
  });

  it.each([
    ['nothing', null],
    ['no numbers', []],
    ['too many numbers', [1_700_000_000_000, -1, 0]],
    ['too few numbers', [1_700_000_000_000]],
    ['a fraction', [1_700_000_000_000, 0.5]],
    ['a text', [1_700_000_000_000, 'OK']],
  ])('a reply of %s fails the check, and says so', async (_, reply) => {
    const store = redisStore(faulty(async () => reply));
    const error = await store.consume(HOURLY, 'k', 1).catch((e: unknown) => e);
    expect(isRateLimitError(error) && [error.code, error.retryable]).toEqual([
      'RL_STORE_FAILED',
      true,
    ]);
    expect(String(error)).toContain("the store could not decide: the script's reply is");
  });

  it('an error of the client fails every check of the call, with its cause', async () => {
    const cause = new Error('Connection is closed.');
    const store = redisStore(faulty(() => Promise.reject(cause)));
    const results = await Promise.allSettled(
      [1, 2, 3].map((n) => store.consume(HOURLY, `${n}`, 1)),
    );
    for (const result of results) {
      expect(result).toMatchObject({
        status: 'rejected',
        reason: {
          cause,
          message: 'the store could not decide: Connection is closed.',
          retryable: true,
        },
      });
    }
  });

  it('a client that throws at once fails the check the same way', async () => {
    const store = redisStore(
      faulty(() => {
        throw new Error('not connected');
      }),
    );
    await expect(store.consume(HOURLY, 'k', 1)).rejects.toMatchObject({ code: 'RL_STORE_FAILED' });
  });

  it('reset says when the store fails', async () => {
    const store = redisStore(faulty(() => Promise.reject(new Error('LOADING'))));
    await expect(store.reset(HOURLY, 'k')).rejects.toMatchObject({
      code: 'RL_STORE_FAILED',
      message: 'the store could not decide: LOADING',
    });
  });

  it('every check of a failed call is rejected, however many of one bucket', async () => {
    const store = redisStore(faulty(() => Promise.reject(new Error('down'))));
    const asked = Array.from({ length: 3000 }, (_, i) => store.consume(HOURLY, 'k', 1 + (i % 2)));
    const results = await Promise.allSettled(asked);
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(3000);
  });
});

describe('close', () => {
  it('answers what was asked before, refuses what is asked after, leaves the client open', async () => {
    const store = redisStore(shared.client, { prefix: `${shared.prefix}close` });
    const before = store.consume(HOURLY, 'k', 1);
    const closing = store.close();
    await expect(store.consume(HOURLY, 'k', 1)).rejects.toMatchObject({ code: 'RL_CLOSED' });
    await expect(store.reset(HOURLY, 'k')).rejects.toMatchObject({ code: 'RL_CLOSED' });
    await closing;
    await expect(before).resolves.toMatchObject({ allowed: true, remaining: 4 });
    await store.close();
    expect(await shared.client.ping()).toBe('PONG');
  });
});

describe('bad options are refused', () => {
  it.each([
    [undefined, {}, 'client must be an ioredis Redis or Cluster, got undefined'],
    [
      'redis://localhost',
      {},
      'client must be an ioredis Redis or Cluster, got "redis://localhost"',
    ],
    [{}, {}, 'client must be an ioredis Redis or Cluster, got an object'],
  ])('client %j', (client, options, message) => {
    expect(() => redisStore(client as never, options)).toThrow(message);
  });

  it.each([
    [{ prefix: '' }, 'prefix must be 1 to 64 letters, digits, "_", ".", ":" or "-", got ""'],
    [{ prefix: 'a{b}' }, 'got "a{b}"'],
    [{ prefix: 7 }, 'got 7'],
    [{ keyPrefix: 'a' }, 'keyPrefix is not an option; the options are prefix'],
  ])('%j', (options, message) => {
    expect(() => redisStore(shared.client, options as never)).toThrow(message);
  });
});

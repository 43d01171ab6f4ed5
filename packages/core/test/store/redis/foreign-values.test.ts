import type { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import type { Decision } from '../../../src/decision/decision.js';
import { ALGORITHMS, type Algorithm, parsePolicy } from '../../../src/policy/policy.js';
import type { RedisStore } from '../../../src/store/redis/redis-store.js';
import { keysOf, useOwn } from '../../support/redis.js';

const own = useOwn();

/** What an app may have left under one of our keys. */
const VALUES: readonly (readonly [string, (client: Redis, key: string) => Promise<unknown>])[] = [
  ['a list', (client, key) => client.rpush(key, 'a', 'b')],
  ['a hash', (client, key) => client.hset(key, 'permits', '5')],
  ['a set', (client, key) => client.sadd(key, 'a')],
  ['a sorted set', (client, key) => client.zadd(key, 1, 'a')],
  ['a stream', (client, key) => client.xadd(key, '*', 'a', 'b')],
  ['a text', (client, key) => client.set(key, 'hello, world, and more')],
];

/** Asks of a bucket that had 5 permits; the decision is one that a full bucket would have had. */
type Ask = (store: RedisStore, algorithm: Algorithm) => Promise<Decision | undefined>;

const policyOf = (algorithm: Algorithm) =>
  parsePolicy('foreign', { algorithm, limit: 5, window: '1h' }, '');
const other = parsePolicy('other', { limit: 5, window: '1h' }, '');

const ASKED: readonly (readonly [string, number, Ask])[] = [
  ['consume', 3, (store, algorithm) => store.consume(policyOf(algorithm), 'k', 2)],
  [
    'consumeAll',
    3,
    async (store, algorithm) => {
      const charges = [policyOf(algorithm), other].map((policy) => ({ policy, key: 'k', cost: 2 }));
      return (await store.consumeAll(charges))[0];
    },
  ],
  ['overcharge', 3, (store, algorithm) => store.overcharge(policyOf(algorithm), 'k', 2)],
  ['refund', 5, (store, algorithm) => store.refund(policyOf(algorithm), 'k', 2, undefined)],
  ['look', 5, (store, algorithm) => store.consume(policyOf(algorithm), 'k', 0)],
];

const CASES = ALGORITHMS.flatMap((algorithm) =>
  VALUES.flatMap(([value, write]) =>
    ASKED.map(([what, remaining, ask]) => ({ algorithm, value, write, what, remaining, ask })),
  ),
);

/** The key of the only bucket of this policy. */
async function bucketKeyOf(algorithm: Algorithm): Promise<string> {
  await own.store.consume(policyOf(algorithm), 'k', 1);
  const [key] = await keysOf(own.client, 'rl:');
  await own.client.flushall();
  return key as string;
}

describe('what is not ours at our key is a full bucket, and is replaced', () => {
  it.each(CASES)('$algorithm: $what over $value', async (row) => {
    const { algorithm, write, what, remaining, ask } = row;
    const key = await bucketKeyOf(algorithm);
    await write(own.client, key);
    expect(await ask(own.store, algorithm)).toMatchObject({ allowed: true, remaining });
    if (what === 'look') return;
    expect(await own.client.type(key)).toBe(remaining < 5 ? 'string' : 'none');
    if (remaining < 5) expect(await own.client.pttl(key)).toBeGreaterThan(0);
    const after = await own.store.consume(policyOf(algorithm), 'k', 1);
    expect(after).toMatchObject({ allowed: true, remaining: remaining - 1 });
  });

  const BYTES = [0x00, 0x20, 0x3f, 0x78, 0x7f, 0xff];
  const LENGTHS = [0, 16, 24, 32, 48, 64, 72, 80, 96];
  it.each(ALGORITHMS)('%s: texts as long as one of ours', async (algorithm) => {
    const key = await bucketKeyOf(algorithm);
    for (const byte of BYTES) {
      for (const length of LENGTHS) {
        await own.client.set(key, Buffer.alloc(length, byte));
        const after = await own.store.consume(policyOf(algorithm), 'k', 1).catch(String);
        expect([byte, length, after]).toMatchObject([byte, length, { allowed: true }]);
        expect(await own.client.pttl(key)).toBeGreaterThan(0);
        await own.client.del(key);
      }
    }
  });

  it.each(VALUES)('a claim over %s', async (_, write) => {
    for (const algorithm of ['token-bucket', 'fixed-window', 'sliding-window'] as const) {
      const key = await bucketKeyOf(algorithm);
      await write(own.client, key);
      const policy = parsePolicy('foreign', { algorithm, limit: 5, window: '1h', lease: true }, '');
      const claim = { policy, key: 'k', holder: 1, turn: 1, reports: [], costs: [2], extra: 1 };
      const grant = await own.store.claim(claim);
      expect(grant?.decisions).toMatchObject([{ allowed: true, remaining: 3 }]);
      expect(await own.client.type(key)).toBe('string');
      await own.client.flushall();
    }
  });

  it.each(ALGORITHMS)('%s: a reset over a list', async (algorithm) => {
    const key = await bucketKeyOf(algorithm);
    await own.client.rpush(key, 'a');
    await own.store.reset(policyOf(algorithm), 'k');
    expect(await own.client.exists(key)).toBe(0);
  });

  it('a heartbeat over a list', async () => {
    await own.client.rpush('rl:replicas', 'a');
    expect(await own.store.heartbeat()).toBe(1);
  });
});

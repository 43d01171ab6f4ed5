import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { describe, expect, it, vi } from 'vitest';
import { ALGORITHMS, parsePolicy } from '../../../src/policy/policy.js';
import type { RedisClient } from '../../../src/store/redis/client.js';
import { redisStore } from '../../../src/store/redis/redis-store.js';
import { checks, plainChecks } from '../../../src/store/redis/scripts.generated.js';
import { commandCalls, useOwn } from '../../support/redis.js';

const FIVE = parsePolicy('five', { limit: 5, window: '1h' }, '');
const own = useOwn();

describe('script identity', () => {
  it.each([
    ['plainChecks', plainChecks],
    ['checks', checks],
  ])('the digest of %s is that of its text, here and on the server', async (_, script) => {
    expect(createHash('sha1').update(script.text).digest('hex')).toBe(script.sha1);
    expect(await own.client.script('LOAD', script.text)).toBe(script.sha1);
  });

  it('the first call brings the text, later ones the digest', async () => {
    const store = redisStore(own.client, { prefix: 'first' });
    await store.consume(FIVE, 'k', 1);
    await store.consume(FIVE, 'k', 1);
    await store.refund(FIVE, 'k', 1, undefined);
    await store.refund(FIVE, 'k', 1, undefined);
    expect(await commandCalls(own.client)).toMatchObject({ eval: 2, evalsha: 2 });
  });
});

describe('G3 one clock', () => {
  it("a replica's own clocks, however wrong, change no decision", async () => {
    await own.store.consume(FIVE, 'k', 5);
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.now() + 10 * 3_600_000 });
    vi.advanceTimersByTime(10 * 3_600_000);
    try {
      const denied = await own.store.consume(FIVE, 'k', 1);
      expect(denied.allowed).toBe(false);
      expect(denied.retryAfterMs).toBeGreaterThan(11 * 60_000);
      expect(denied.retryAfterMs).toBeLessThanOrEqual(12 * 60_000);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('S-01 the server lost the scripts', () => {
  it('after SCRIPT FLUSH the count goes on, with one more round trip', async () => {
    for (let i = 0; i < 3; i++) await own.store.consume(FIVE, 'k', 1);
    await own.client.script('FLUSH');
    await own.client.config('RESETSTAT');
    expect(await own.store.consume(FIVE, 'k', 1)).toMatchObject({ allowed: true, remaining: 1 });
    const { evalsha, eval: evals, ...others } = await commandCalls(own.client);
    expect([evalsha, evals]).toEqual([1, 1]);
    expect(others).not.toHaveProperty('script|load');
    expect(await own.store.consume(FIVE, 'k', 1)).toMatchObject({ allowed: true, remaining: 0 });
    expect((await commandCalls(own.client)).eval).toBe(1);
  });

  it('after an empty restart the bucket is full, and has an expiry', async () => {
    for (let i = 0; i < 3; i++) await own.store.consume(FIVE, 'k', 1);
    await own.client.flushall();
    await own.client.script('FLUSH');
    expect(await own.store.consume(FIVE, 'k', 1)).toMatchObject({ allowed: true, remaining: 4 });
    expect(await own.client.pttl('rl:{k}:five:tb1')).toBeGreaterThan(0);
  });

  it('SCRIPT FLUSH again and again in 1000 checks: nothing thrown, nothing charged twice', async () => {
    const policy = parsePolicy('thousand', { limit: 600, window: '1h' }, '');
    const checks: Promise<{ allowed: boolean }>[] = [];
    for (let turn = 0; turn < 50; turn++) {
      for (let i = 0; i < 20; i++) checks.push(own.store.consume(policy, 'k', 1));
      if (turn % 3 === 0) void own.client.script('FLUSH');
      await new Promise((resolve) => setImmediate(resolve));
    }
    const decisions = await Promise.all(checks);
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(600);
    const { eval: reloads } = await commandCalls(own.client);
    expect(reloads).toBeGreaterThan(1);
  });
});

describe('checks of one turn of the event loop go out together', () => {
  it('as one EVALSHA with one TIME, one MGET and one write a bucket', async () => {
    await own.store.consume(FIVE, 'warm', 1);
    await own.client.config('RESETSTAT');
    const decisions = await Promise.all(
      Array.from({ length: 100 }, (_, i) => own.store.consume(FIVE, `k${i % 10}`, 1)),
    );
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(50);
    const calls = await commandCalls(own.client);
    expect(calls).toMatchObject({ evalsha: 1, time: 1, mget: 1, psetex: 10 });
    expect(calls).not.toHaveProperty('eval');
  });

  it('several checks of one bucket are decided in the order they were made', async () => {
    const costs = [1, 3, 1, 1, 2, 0, 1];
    const decisions = await Promise.all(costs.map((cost) => own.store.consume(FIVE, 'k', cost)));
    expect(decisions.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [true, 4],
      [true, 1],
      [true, 0],
      [false, 0],
      [false, 0],
      [true, 0],
      [false, 0],
    ]);
    expect(await commandCalls(own.client)).toMatchObject({ psetex: 1 });
  });

  it('a reset takes its place between the checks made before and after it', async () => {
    const [before, , after] = await Promise.all([
      own.store.consume(FIVE, 'k', 5),
      own.store.reset(FIVE, 'k'),
      own.store.consume(FIVE, 'k', 1),
    ]);
    expect([before.remaining, after.remaining]).toEqual([0, 4]);
  });

  it('also where the server has lost its scripts', async () => {
    await own.store.consume(FIVE, 'k', 0);
    await own.store.reset(FIVE, 'k');
    await own.client.script('FLUSH');
    const [before, , after] = await Promise.all([
      own.store.consume(FIVE, 'k', 5),
      own.store.reset(FIVE, 'k'),
      own.store.consume(FIVE, 'k', 1),
    ]);
    expect([before.remaining, after.remaining]).toEqual([0, 4]);
  });

  it('many costs of one bucket in one turn are several calls, all answered', async () => {
    const policy = parsePolicy('costs', { limit: 40_000, window: '365d' }, '');
    const asked = Array.from({ length: 20_000 }, (_, i) =>
      own.store.consume(policy, 'k', 1 + (i % 2)),
    );
    const decisions = await Promise.all(asked);
    expect(decisions.at(-1)).toMatchObject({ allowed: true, remaining: 10_000 });
    expect((await commandCalls(own.client)).evalsha).toBeGreaterThanOrEqual(19);
  });

  it('policies of one name and other values are not mixed in one entry', async () => {
    const larger = parsePolicy('five', { limit: 50, window: '1h' }, '');
    const [first, second, third] = await Promise.all([
      own.store.consume(FIVE, 'k', 5),
      own.store.consume(larger, 'k', 1),
      own.store.consume(FIVE, 'k', 1),
    ]);
    expect([first.limit, second.limit, third.limit]).toEqual([5, 50, 5]);
    expect([first.allowed, second.allowed, third.allowed]).toEqual([true, true, false]);
    expect(second.remaining).toBe(44);
  });

  it('more buckets than one call should hold are several calls', async () => {
    await own.store.consume(FIVE, 'warm', 1);
    await own.client.config('RESETSTAT');
    const decisions = await Promise.all(
      Array.from({ length: 1500 }, (_, i) => own.store.consume(FIVE, `k${i}`, 1)),
    );
    expect(decisions.every(({ allowed, remaining }) => allowed && remaining === 4)).toBe(true);
    expect(await commandCalls(own.client)).toMatchObject({ evalsha: 12, psetex: 1500 });
  });
});

describe('on a Cluster', () => {
  /** The real server behind what a Cluster's client looks like; notes the keys of each call. */
  function cluster(client: Redis): { client: RedisClient; calls: string[][] } {
    const calls: string[][] = [];
    const note = (count: number, args: (string | number)[]) => {
      calls.push(args.slice(0, count).map(String));
    };
    return {
      calls,
      client: {
        isCluster: true,
        evalsha: (sha1, count, ...args) => {
          note(count, args);
          return client.evalsha(sha1, count, ...args);
        },
        eval: (text, count, ...args) => {
          note(count, args);
          return client.eval(text, count, ...args);
        },
      },
    };
  }

  it('the keys of one call share a hash tag, whose buckets go out together', async () => {
    const hourly = parsePolicy('hourly', { limit: 100, window: '1h' }, '');
    const spy = cluster(own.client);
    const store = redisStore(spy.client);
    const keys = Array.from({ length: 30 }, (_, i) => `tenant${i % 10}`);
    const asked = keys.flatMap((key) => [
      store.consume(FIVE, key, 1),
      store.consume(hourly, key, 1),
    ]);
    const decisions = await Promise.all(asked);
    expect(decisions.every(({ allowed }) => allowed)).toBe(true);
    expect(spy.calls).toHaveLength(10);
    for (const call of spy.calls) {
      expect(call).toHaveLength(2);
      expect(new Set(call.map((key) => key.slice(0, key.indexOf('}')))).size).toBe(1);
    }
  });

  it('every key the script touches is in KEYS', async () => {
    const monitor = await own.client.monitor();
    const touched: string[] = [];
    let done = false;
    monitor.on('monitor', (_time: string, args: string[], source: string) => {
      if (args[1] === 'done') done = true;
      if (source === 'lua') touched.push(...args.slice(1).filter((arg) => arg.startsWith('rl:')));
    });
    const spy = cluster(own.client);
    const store = redisStore(spy.client);
    await Promise.all(['a', 'b', 'c'].map((key) => store.consume(FIVE, key, 1)));
    await Promise.all(['a', 'b', 'c'].map((key) => store.refund(FIVE, key, 1, undefined)));
    for (const algorithm of ALGORITHMS) {
      const policy = parsePolicy(algorithm, { algorithm, limit: 5, window: '1h' }, '');
      await store.consumeAll([
        { policy, key: 'd', cost: 2 },
        { policy: FIVE, key: 'd', cost: 1 },
      ]);
      await store.overcharge(policy, 'd', 1);
      await store.reset(policy, 'd');
    }
    await own.client.echo('done');
    await expect.poll(() => done).toBe(true);
    expect(touched.some((key) => key.includes(':sliding-log:'))).toBe(true);
    expect(new Set(touched)).toEqual(new Set(spy.calls.flat()));
    monitor.disconnect();
  });
});

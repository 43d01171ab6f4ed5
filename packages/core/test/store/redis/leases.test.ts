import { startFaultProxy } from '@rl/testkit';
import { Redis, type RedisOptions } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../src/limiter/limiter.js';
import { parsePolicy } from '../../../src/policy/policy.js';
import { type RedisStore, redisStore } from '../../../src/store/redis/redis-store.js';
import type { Claim, Grant, LeaseReport } from '../../../src/store/store.js';
import { frozenRedisStore } from '../../../src/testing/frozen-redis-store.js';
import { ManualClock } from '../../../src/testing/manual-clock.js';
import { readLeased } from '../../support/leased-value.js';
import { PATIENT } from '../../support/patient.js';
import { recorded } from '../../support/recorded.js';
import { commandCalls, useOwn } from '../../support/redis.js';

const HOUR = '1h';
const LEASED = parsePolicy('quota', { limit: 100, window: HOUR, lease: { ttl: '1m' } }, '');
const PLAIN = parsePolicy('quota', { limit: 100, window: HOUR }, '');
const OTHER = parsePolicy('other', { limit: 100, window: HOUR }, '');
const KEY = 'rl:{k}:quota:tb1';

const own = useOwn();

let turn = 0;
function claimOf(ask: Partial<Claim> = {}): Claim {
  turn++;
  const nothing = { reports: [], costs: [], extra: 0 };
  return { policy: LEASED, key: 'k', holder: 1, turn, ...nothing, ...ask };
}

/** The answer to a claim nobody has heard before. */
async function granted(store: RedisStore, ask: Partial<Claim>): Promise<Grant> {
  const grant = await store.claim(claimOf(ask));
  if (grant === undefined) throw new Error('a new claim was answered undefined');
  return grant;
}

const told = ({ epoch }: Grant, spent: number, returned: number): LeaseReport[] => [
  { epoch, spent, returned },
];

/** What the key of a bucket holds. */
async function out(key = KEY): Promise<number> {
  const leased = readLeased(await own.client.getBuffer(key));
  return leased === undefined ? 0 : leased.young + leased.old;
}

describe('what goes over the wire', () => {
  it('the first call of a key, alone, goes out as any other, and is not leased', async () => {
    const spy = recorded(own.client);
    const quota = { limit: 100, window: HOUR, lease: true };
    // A millisecond and more from the call to the end of its turn.
    let nowMs = 0;
    const clock = { nowMs: () => nowMs++ };
    const limiter = createLimiter({
      policies: { quota },
      store: redisStore(spy.client),
      fallback: PATIENT,
      clock,
    });
    await limiter.consume({ quota: 'k' });
    expect(spy.calls).toEqual([
      { script: 'plainChecks', keys: [KEY], args: ['', '100', '3600000', '100', '100', '1000'] },
    ]);
    expect((await own.client.getBuffer(KEY))?.length).toBe(24);
    await limiter.close();
  });

  it('a claim and the other checks of its turn are one call', async () => {
    const spy = recorded(own.client);
    const store = redisStore(spy.client);
    const [grant, leased, other, back] = await Promise.all([
      granted(store, { extra: 10, costs: [1] }),
      store.consume(LEASED, 'k', 2),
      store.consume(OTHER, 'k', 3),
      store.refund(OTHER, 'm', 1, undefined),
    ]);
    expect(spy.calls).toMatchObject([{ script: 'checks', keys: { length: 3 } }]);
    expect([grant.permits, grant.left.remaining]).toEqual([10, 89]);
    expect([leased, other, back].map(({ remaining }) => remaining)).toEqual([87, 97, 100]);
  });

  it('a thousand calls from a warm lease are a handful of calls', async () => {
    const quota = { limit: 1_000_000, window: '1s', lease: { ttl: '10s' } };
    const store = redisStore(own.client, { prefix: 'warm' });
    const limiter = createLimiter({ policies: { quota }, store, fallback: PATIENT });
    for (let i = 0; i < 50; i++) {
      await Promise.all(Array.from({ length: 200 }, () => limiter.consume({ quota: 'k' })));
    }
    await own.client.config('RESETSTAT');
    for (let i = 0; i < 1000; i++) {
      const decision =
        limiter.tryConsume({ quota: 'k' }) ?? (await limiter.consume({ quota: 'k' }));
      expect(decision.allowed).toBe(true);
    }
    await limiter.close();
    const { evalsha = 0, eval: evals = 0 } = await commandCalls(own.client);
    expect(evalsha + evals).toBeLessThanOrEqual(5);
  });

  it.each([
    ['leased', true],
    ['not leased', false],
  ])('a thousand denials of a bucket that is %s are a handful of calls', async (_, lease) => {
    const store = redisStore(own.client, { prefix: `denied-${lease}` });
    const limiter = createLimiter({
      policies: { quota: { limit: 1, window: HOUR, lease } },
      store,
      fallback: PATIENT,
    });
    await limiter.consume({ quota: 'k' });
    await own.client.config('RESETSTAT');
    for (let i = 0; i < 1000; i++) {
      expect((await limiter.consume({ quota: 'k' })).allowed).toBe(false);
    }
    await limiter.close();
    const { evalsha = 0, eval: evals = 0 } = await commandCalls(own.client);
    expect(evalsha + evals).toBeLessThanOrEqual(5);
  });

  it('SCRIPT FLUSH between claims, and with one under way: each counts once', async () => {
    const grant = await granted(own.store, { extra: 20 });
    await own.client.script('FLUSH');
    const { left } = await granted(own.store, { reports: told(grant, 4, 3), costs: [2] });
    expect([await out(), left.remaining]).toEqual([13, 81]);
    for (let i = 0; i < 10; i++) {
      void own.client.script('FLUSH');
      await Promise.all([
        granted(own.store, { reports: told(grant, 1, 0), costs: [1] }),
        own.store.consume(PLAIN, 'k', 1),
      ]);
    }
    expect([await out(), (await own.store.consume(PLAIN, 'k', 0)).remaining]).toEqual([3, 61]);
    expect((await commandCalls(own.client)).eval).toBeGreaterThan(2);
  });

  it('a client that gives numbers as texts', async () => {
    const client = new Redis({ ...own.server.connection, stringNumbers: true });
    const store = redisStore(client);
    const grant = await granted(store, { extra: 10, costs: [5, 200] });
    expect(grant).toMatchObject({ permits: 10, lifeMs: 60_000, left: { remaining: 85 } });
    expect(grant.decisions.map(({ allowed }) => allowed)).toEqual([true, false]);
    const after = await granted(store, { reports: told(grant, 4, 6) });
    expect([await out(), after.left.remaining]).toEqual([0, 91]);
    client.disconnect();
  });
});

describe('a bucket with permits out, asked without a claim', () => {
  it.each([
    ['by the same policy', LEASED],
    ['by one of that name without leases', PLAIN],
  ])('%s: what is out stays out', async (_, policy) => {
    await granted(own.store, { extra: 30 });
    const spy = recorded(own.client);
    const store = redisStore(spy.client);
    const one = await store.consume(policy, 'k', 1);
    const many = await Promise.all([40, 30, 0, 20].map((cost) => store.consume(policy, 'k', cost)));
    const none = await store.consume(policy, 'k', 10);
    const last = await store.consume(policy, 'k', 1);
    expect([one, ...many, none, last].map((d) => [d.allowed, d.remaining])).toEqual([
      [true, 69],
      [true, 29],
      [false, 29],
      [true, 29],
      [true, 9],
      [false, 9],
      [true, 8],
    ]);
    expect(await out()).toBe(30);
    expect(new Set(spy.calls.map(({ script }) => script))).toEqual(new Set(['plainChecks']));
  });

  it('between buckets without, in one call: each is decided by its own', async () => {
    await granted(own.store, { extra: 30 });
    await granted(own.store, { key: 'n', extra: 50 });
    const spy = recorded(own.client);
    const store = redisStore(spy.client);
    const asked = ['j', 'k', 'm', 'n', 'j', 'n'].map((key) => store.consume(PLAIN, key, 1));
    const others = ['k', 'n'].map((key) => store.consume(OTHER, key, 1));
    const decisions = await Promise.all([...asked, ...others]);
    expect(decisions.map(({ remaining }) => remaining)).toEqual([99, 69, 99, 49, 98, 48, 99, 99]);
    expect(spy.calls).toMatchObject([{ script: 'plainChecks', keys: { length: 6 } }]);
    expect([await out(), await out('rl:{n}:quota:tb1')]).toEqual([30, 50]);
  });

  it('through all epochs, by either script: the same decisions and the same value', async () => {
    const clock = new ManualClock(Date.now());
    const spy = recorded(own.client);
    const store = frozenRedisStore(spy.client, clock);
    const policy = parsePolicy('quota', { limit: 100, window: '10s', lease: { ttl: '1s' } }, '');
    await granted(store, { policy, extra: 30 });
    await granted(store, { policy, key: 'm', extra: 30 });
    const remaining = [];
    for (const afterMs of [0, 1, 499, 500, 999, 1, 100, 5000, 60_000]) {
      clock.advance(afterMs);
      const plain = await store.consume(policy, 'k', 2);
      const [full] = await store.consumeAll([{ policy, key: 'm', cost: 2 }]);
      expect(plain).toEqual(full);
      const value = await own.client.getBuffer(KEY);
      expect(value).toEqual(await own.client.getBuffer('rl:{m}:quota:tb1'));
      remaining.push([plain.remaining, readLeased(value)?.young, readLeased(value)?.old]);
    }
    expect(spy.calls.slice(-2).map(({ script }) => script)).toEqual(['plainChecks', 'checks']);
    expect(remaining).toEqual([
      [68, 30, 0],
      [66, 30, 0],
      // 70 would fit beside what is out: 4 were spent, and 5 came back.
      [68, 30, 0],
      [68, 0, 30],
      [68, 0, 30],
      // Written off.
      [66, undefined, undefined],
      [65, undefined, undefined],
      [98, undefined, undefined],
      [98, undefined, undefined],
    ]);
  });
});

describe('the value of a bucket', () => {
  it('says who told something for two epochs, in 16 bytes each', async () => {
    const clock = new ManualClock(Date.now());
    const store = frozenRedisStore(own.client, clock);
    const policy = parsePolicy('quota', { limit: 100, window: '10s', lease: { ttl: '1s' } }, '');
    const holders = Array.from({ length: 20 }, (_, i) => 2 ** 53 - 1 - i);
    const lookUp = async () => {
      const value = await own.client.getBuffer(KEY);
      const leased = readLeased(value);
      return [value?.length, leased?.heard.size, leased?.before.size];
    };
    const ask = (holder: number, what: Partial<Claim>) =>
      granted(store, { policy, holder, ...what });
    const grants = await Promise.all(holders.map((holder) => ask(holder, { extra: 2 })));
    expect(await lookUp()).toEqual([24 + 48, 0, 0]);

    const tell = () =>
      Promise.all(
        holders.map((holder, i) => ask(holder, { reports: told(grants[i] as Grant, 1, 0) })),
      );
    await tell();
    expect(await lookUp()).toEqual([24 + 48 + 320, 20, 0]);
    expect([...(readLeased(await own.client.getBuffer(KEY))?.heard.keys() ?? [])]).toEqual(holders);

    clock.advance(1000);
    await ask(1, { extra: 1 });
    await tell();
    expect(await lookUp()).toEqual([24 + 48 + 640, 20, 20]);

    clock.advance(1000);
    await ask(1, { extra: 1 });
    expect(await lookUp()).toEqual([24 + 48 + 320, 0, 20]);

    clock.advance(1000);
    await ask(1, { extra: 1 });
    expect(await lookUp()).toEqual([24 + 48, 0, 0]);

    clock.advance(2000);
    await store.consume(policy, 'k', 90);
    expect(await lookUp()).toEqual([24, undefined, undefined]);
  });
});

describe('a connection cut between the decision and its answer', () => {
  /** A store whose client goes through a proxy, where the answer to its next call is lost. */
  async function losingOnce(
    options: Pick<RedisOptions, 'autoResendUnfulfilledCommands' | 'maxRetriesPerRequest'>,
  ) {
    const proxy = await startFaultProxy(own.server);
    const client = new Redis({ ...proxy.connection, retryStrategy: () => 5, ...options });
    await client.ping();
    const lost = proxy.cutBeforeReply((request) => /eval/i.test(request.toString('latin1')));
    const close = async () => {
      client.disconnect();
      await proxy.close();
    };
    return { store: redisStore(client), proxy, lost, close };
  }

  it('the client sends the claim again: it was heard before, and counts once', async () => {
    const grant = await granted(own.store, { extra: 20 });
    const { store, proxy, lost, close } = await losingOnce({});
    const claim = claimOf({ reports: told(grant, 4, 3), costs: [5], extra: 2 });
    expect(await store.claim(claim)).toBeUndefined();
    await lost;
    expect(proxy.counters).toMatchObject({ connections: 2, cuts: 1 });
    // 20 - 7 that were told of + 2 that nobody knows of, until they are written off.
    expect(await out()).toBe(15);
    expect((await own.store.consume(PLAIN, 'k', 0)).remaining).toBe(100 - 20 + 3 - 5 - 2);
    const next = await granted(store, { reports: told(grant, 13, 0) });
    expect([await out(), next.left.remaining]).toEqual([2, 76]);
    await close();
  });

  it('a claim that tells nothing counts twice: too strict, not too generous', async () => {
    const { store, lost, close } = await losingOnce({});
    const grant = await granted(store, { costs: [5], extra: 10 });
    await lost;
    expect(grant.permits).toBe(10);
    expect([await out(), grant.left.remaining]).toEqual([20, 70]);
    await close();
  });

  it('the client does not send it again: the claim fails, and has counted once', async () => {
    const grant = await granted(own.store, { extra: 20 });
    const { store, lost, close } = await losingOnce({
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
    });
    const claim = claimOf({ reports: told(grant, 4, 3), costs: [5] });
    await expect(store.claim(claim)).rejects.toMatchObject({ code: 'RL_STORE_FAILED' });
    await lost;
    expect(await out()).toBe(13);
    expect((await own.store.consume(PLAIN, 'k', 0)).remaining).toBe(100 - 20 + 3 - 5);
    await close();
  });
});

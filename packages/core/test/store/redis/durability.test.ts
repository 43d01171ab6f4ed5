import { startFaultProxy } from '@rl/testkit';
import { Redis as Redis5 } from 'ioredis5';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLimiter } from '../../../src/limiter/limiter.js';
import { parsePolicy } from '../../../src/policy/policy.js';
import type { RedisClient } from '../../../src/store/redis/client.js';
import { aclRules } from '../../../src/store/redis/permissions.js';
import { type RedisStore, redisStore } from '../../../src/store/redis/redis-store.js';
import { commandCalls } from '../../support/redis.js';
import { useReplicated } from '../../support/replicated.js';
import { runFixture } from '../../support/run-fixture.js';

const HOURLY = parsePolicy('hourly', { limit: 1000, window: '1h' }, '');
const WINDOW = parsePolicy('win', { algorithm: 'fixed-window', limit: 1000, window: '1h' }, '');
const LEASED = parsePolicy('leased', { limit: 1000, window: '1h', lease: true }, '');
const NOTHING_TOLD = { policy: LEASED, key: 'k', holder: 1, turn: 1, reports: [] };

/** For a sound Redis replica, on however busy a machine. */
const PATIENT = { replicas: 1, timeoutMs: 1000 };

const pair = useReplicated();
const undo: (() => unknown)[] = [];
let warnings: [code: string, message: string][];
beforeEach(() => {
  warnings = [];
  vi.spyOn(process, 'emitWarning').mockImplementation(((
    message: string,
    { code }: { code: string },
  ) => warnings.push([code, message])) as never);
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const each of undo.splice(0).reverse()) await each();
});

/** How many WAITs the primary has had. */
const waits = async () => (await commandCalls(pair.onPrimary)).wait ?? 0;

/** Has the scripts known to the store, so that what follows goes by EVALSHA. */
async function warm(store: RedisStore): Promise<void> {
  await store.consume(HOURLY, 'warm', 0);
  await store.consume(WINDOW, 'warm', 0);
}

/** What both servers have under the keys of a bucket, the Redis replica asked first. */
async function values(): Promise<[replica: Buffer[], primary: Buffer[]]> {
  const read = async (client: typeof pair.onReplica) => {
    const keys = ['rl:{k}:hourly:tb1', 'rl:{k}:win:fw1', 'rl:{k}:leased:tb1', 'rl:{l}:hourly:tb1'];
    return client.mgetBuffer(keys) as Promise<Buffer[]>;
  };
  return [await read(pair.onReplica), await read(pair.onPrimary)];
}

describe('with durability', () => {
  it.each<[string, (store: RedisStore) => Promise<unknown>]>([
    ['a check', (store) => store.consume(HOURLY, 'k', 3)],
    ['a check of another algorithm', (store) => store.consume(WINDOW, 'k', 3)],
    [
      'several policies',
      (store) =>
        store.consumeAll([HOURLY, WINDOW].map((policy) => ({ policy, key: 'k', cost: 1 }))),
    ],
    ['a claim that grants', (store) => store.claim({ ...NOTHING_TOLD, costs: [], extra: 5 })],
    ['a claim that decides', (store) => store.claim({ ...NOTHING_TOLD, costs: [2], extra: 0 })],
    ['a refund', (store) => store.refund(HOURLY, 'k', 1, undefined)],
    ['an overcharge', (store) => store.overcharge(HOURLY, 'k', 2)],
    ['a reset', (store) => store.reset(HOURLY, 'k')],
  ])('%s is on the Redis replica when it is told', async (_, ask) => {
    await redisStore(pair.connect()).consume(HOURLY, 'k', 10);
    const store = redisStore(pair.connect(), { durability: PATIENT });
    await warm(store);
    const [, before] = await values();
    pair.link.delay({ toClientMs: 30 });
    await ask(store);
    const [onReplica, onPrimary] = await values();
    expect(onReplica).toEqual(onPrimary);
    expect(onReplica).not.toEqual(before);
    expect(store.unreplicated).toBe(0);
  });

  it('is so by ioredis 5, too, with auto-pipelining', async () => {
    const client = new Redis5({ ...pair.primary.connection, enableAutoPipelining: true });
    undo.push(() => client.disconnect());
    const store = redisStore(client, { durability: PATIENT });
    pair.link.delay({ toClientMs: 30 });
    expect(await store.consume(HOURLY, 'k', 3)).toMatchObject({ remaining: 997 });
    const [onReplica, onPrimary] = await values();
    expect(onReplica).toEqual(onPrimary);
    expect(store.unreplicated).toBe(0);
  });

  it('is so where the server has forgotten the script', async () => {
    const store = redisStore(pair.connect(), { durability: PATIENT });
    await warm(store);
    await pair.onPrimary.script('FLUSH');
    pair.link.delay({ toClientMs: 30 });
    await store.consume(HOURLY, 'k', 3);
    const [onReplica, onPrimary] = await values();
    expect(onReplica).toEqual(onPrimary);
    expect(onReplica[0]).not.toBeNull();
  });

  it('one WAIT goes out for a turn, whatever the number of its batches', async () => {
    const store = redisStore(pair.connect(), { durability: PATIENT });
    await warm(store);
    await pair.onPrimary.config('RESETSTAT');
    pair.link.delay({ toClientMs: 30 });
    const keys = Array.from({ length: 300 }, (_, i) => `k${i}`);
    await Promise.all(keys.map((key) => store.consume(HOURLY, key, 1)));
    expect(await commandCalls(pair.onPrimary)).toMatchObject({ evalsha: 3, wait: 1 });
  });

  it('what changes nothing is told at once: looks, denials, claims that get nothing', async () => {
    const store = redisStore(pair.connect(), { durability: PATIENT });
    await store.consume(HOURLY, 'k', 0);
    await store.consume(HOURLY, 'k', 1001);
    await store.consume(WINDOW, 'k', 0);
    await store.consume(WINDOW, 'k', 1001);
    await store.consumeAll(
      [HOURLY, WINDOW].map((policy, i) => ({ policy, key: 'k', cost: 1001 * i })),
    );
    await store.claim({ ...NOTHING_TOLD, costs: [0, 1001], extra: 0 });
    await store.heartbeat();
    expect(await waits()).toBe(0);
  });

  it('a claim that only tells is waited for', async () => {
    const store = redisStore(pair.connect(), { durability: PATIENT });
    const grant = await store.claim({ ...NOTHING_TOLD, costs: [], extra: 5 });
    const reports = [{ epoch: grant?.epoch as number, spent: 5, returned: 0 }];
    await store.claim({ ...NOTHING_TOLD, turn: 2, reports, costs: [], extra: 0 });
    expect(await waits()).toBe(2);
  });
});

describe('a WAIT that is under way', () => {
  /** A store whose WAITs the test answers. */
  async function open() {
    const client = pair.connect();
    const store = redisStore(client, { durability: PATIENT });
    await warm(store);
    const answers: ((count: number) => void)[] = [];
    vi.spyOn(client, 'wait').mockImplementation(
      () => new Promise((resolve) => answers.push(resolve)),
    );
    return { client, store, answers, asked: (count: number) => askedIs(answers, count) };
  }
  const askedIs = (answers: readonly unknown[], count: number) =>
    expect.poll(() => answers.length).toBe(count);

  it('does not speak for a call that was sent behind it', async () => {
    const { client, store, answers, asked } = await open();
    const before = store.consume(HOURLY, 'k', 1);
    await asked(1);
    const behind = store.consume(HOURLY, 'k', 1);
    await new Promise((resolve) => setImmediate(resolve));
    await client.ping(); // answered, too
    answers[0]?.(1);
    await before;
    await asked(2);
    answers[1]?.(1);
    expect(await behind).toMatchObject({ remaining: 998 });
  });

  it('nor for one that was sent before it, and again behind it', async () => {
    const { client, store, answers, asked } = await open();
    let refuse!: (error: Error) => void;
    const refused = new Promise<never>((_, reject) => {
      refuse = reject;
    });
    vi.spyOn(client, 'evalsha').mockImplementationOnce(() => refused);
    const again = store.consume(HOURLY, 'k', 1);
    await new Promise((resolve) => setImmediate(resolve));
    const before = store.consume(HOURLY, 'k', 1);
    await asked(1);
    refuse(new Error('NOSCRIPT No matching script'));
    await new Promise((resolve) => setImmediate(resolve));
    await client.ping();
    answers[0]?.(1);
    await before;
    await asked(2);
    answers[1]?.(1);
    expect(await again).toMatchObject({ remaining: 998 });
  });
});

describe('a Redis replica that does not answer', () => {
  it('makes no decision late, and loses no store; it is counted, warned of once, and asked seldom', async () => {
    const stores = [1, 2].map(() =>
      redisStore(pair.connect(), { durability: { replicas: 1, timeoutMs: 50 } }),
    ) as [RedisStore, RedisStore];
    const [store, other] = stores;
    const limiter = createLimiter({
      store,
      policies: { hourly: { limit: 1000, window: '1h' } },
      fallback: { replicas: 1 },
    });
    undo.push(() => limiter.close());
    await warm(store);
    await pair.replica.pause();
    const beginMs = performance.now();
    for (let i = 0; i < 50; i++) {
      expect(await limiter.consume({ hourly: 'k' })).toMatchObject({
        origin: 'store',
        remaining: 999 - i,
      });
    }
    const seconds = Math.floor((performance.now() - beginMs) / 1000);
    expect(limiter.health()).toMatchObject({ store: 'up', owed: 0, unreplicated: 50 });
    expect(await waits()).toBeLessThanOrEqual(2 + seconds);
    expect(warnings).toEqual([
      [
        'RL_NOT_REPLICATED',
        expect.stringMatching(/durability asks for 1 Redis replicas, and .*; decisions are told/),
      ],
    ]);
    await other.consume(HOURLY, 'k', 1);
    expect(warnings).toHaveLength(2);

    await pair.replica.resume();
    const told = async () => {
      const before = store.unreplicated as number;
      await limiter.consume({ hourly: 'k' });
      return (store.unreplicated as number) - before;
    };
    await expect.poll(told, { timeout: 10_000 }).toBe(0);
    expect((await values())[0]).toEqual((await values())[1]);
    expect(warnings).toHaveLength(2);
  });

  it('that is not there, too', async () => {
    const store = redisStore(pair.connect(), { durability: { replicas: 2, timeoutMs: 5 } });
    expect(await store.consume(HOURLY, 'k', 1)).toMatchObject({ allowed: true, remaining: 999 });
    expect(store.unreplicated).toBe(1);
    await Promise.all([1, 1, 1].map((cost) => store.consume(HOURLY, 'k', cost)));
    expect(store.unreplicated).toBe(4);
    expect(warnings[0]?.[1]).toMatch(
      /asks for 2 Redis replicas, and (1 had it after 5 ms|WAIT had no answer within 5 ms)/,
    );
  });

  it('close() waits for what waits, which is told', async () => {
    const store = redisStore(pair.connect(), { durability: { replicas: 1, timeoutMs: 200 } });
    await pair.replica.pause();
    const asked = store.consume(HOURLY, 'k', 1);
    let told = false;
    void asked.then(() => {
      told = true;
    });
    await store.close();
    expect(told).toBe(true);
    expect(store.unreplicated).toBe(1);
  });

  it('keeps no process alive', async () => {
    expect(await runFixture('exit-while-waiting.mjs')).toEqual({ asked: 1, told: 0, code: 0 });
  });
});

describe('a decision whose connection ends while it waits is not told', () => {
  /** The Redis replica is paused, and the check waits for it. */
  async function waiting(store: RedisStore): Promise<{ readonly asked: Promise<unknown> }> {
    await warm(store);
    await pair.replica.pause();
    const asked = store.consume(HOURLY, 'k', 1).catch((error: unknown) => error);
    await expect.poll(() => pair.onPrimary.info('clients')).toContain('blocked_clients:1');
    return { asked };
  }

  it.each([
    ['gives up what was under way', { maxRetriesPerRequest: 0 }],
    ['sends it again, to what confirms it at once', { retryStrategy: () => 1 }],
  ])('by a client that %s', async (_, options) => {
    const proxy = await startFaultProxy(pair.primary);
    undo.push(() => proxy.close());
    const store = redisStore(pair.connect({ ...proxy.connection, ...options }), {
      durability: PATIENT,
    });
    const { asked } = await waiting(store);
    const resumed = pair.replica.resume();
    proxy.cut();
    await resumed;
    expect(await asked).toMatchObject({ code: 'RL_STORE_FAILED', fault: 'connection' });
    expect(store.unreplicated).toBe(0);
    expect(warnings).toEqual([]);
  });

  it('nor one whose server is a primary no more', async () => {
    const store = redisStore(pair.connect({ maxRetriesPerRequest: 0 }), { durability: PATIENT });
    const { asked } = await waiting(store);
    await pair.onPrimary.replicaof('127.0.0.1', 1);
    expect(await asked).toMatchObject({ code: 'RL_STORE_FAILED', fault: 'read-only' });
    expect(store.unreplicated).toBe(0);
  });

  it('the fallback decides it, and it is charged when the store is found', async () => {
    const proxy = await startFaultProxy(pair.primary);
    undo.push(() => proxy.close());
    const client = pair.connect({
      ...proxy.connection,
      maxRetriesPerRequest: 0,
      retryStrategy: () => 20,
    });
    const store = redisStore(client, { durability: PATIENT });
    const limiter = createLimiter({
      store,
      policies: { hourly: { limit: 1000, window: '1h' } },
      fallback: { replicas: 1 },
    });
    undo.push(() => limiter.close());
    await warm(store);
    await pair.replica.pause();
    const asked = limiter.consume({ hourly: 'k' });
    await expect.poll(() => pair.onPrimary.info('clients')).toContain('blocked_clients:1');
    proxy.cut();
    expect(await asked).toMatchObject({
      allowed: true,
      origin: 'fallback',
      fallback: { fault: 'connection' },
    });
    await pair.replica.resume();
    await expect.poll(() => limiter.health()).toMatchObject({ store: 'up', owed: 0 });
  });
});

describe('permissions', () => {
  it.each([
    ['without +wait it is told, counted, and the warning says what is missing', '', 1],
    ['+wait is enough', ' +wait', 0],
  ])('%s', async (_, more, unreplicated) => {
    await pair.onPrimary.acl(
      'SETUSER',
      'app',
      'reset',
      'on',
      '>secret',
      ...`${aclRules('rl')}${more}`.split(' '),
    );
    const login = { username: 'app', password: 'secret', enableReadyCheck: false };
    const store = redisStore(pair.connect(login), { durability: PATIENT });
    expect(await store.consume(HOURLY, 'k', 1)).toMatchObject({ allowed: true });
    expect(store.unreplicated).toBe(unreplicated);
    const hint = /WAIT failed: NOPERM .*; with durability its user in Redis needs \+wait;/;
    expect(warnings).toEqual(more ? [] : [['RL_NOT_REPLICATED', expect.stringMatching(hint)]]);
  });
});

describe('options', () => {
  const none = () => Promise.resolve();
  const client: RedisClient = { evalsha: none, eval: none, wait: none };

  it.each<[unknown, string]>([
    [null, 'durability must be an object such as { replicas: 1 }, got null'],
    [1, 'durability must be an object such as { replicas: 1 }, got 1'],
    [[], 'durability must be an object such as { replicas: 1 }, got an array'],
    [{}, 'durability.replicas must be an integer from 1 to 16, got undefined'],
    [{ replicas: 0 }, 'durability.replicas must be an integer from 1 to 16, got 0'],
    [{ replicas: 17 }, 'durability.replicas must be an integer from 1 to 16, got 17'],
    [{ replicas: '1' }, 'durability.replicas must be an integer from 1 to 16, got "1"'],
    [
      { replicas: 1, timeoutMs: 0 },
      'durability.timeoutMs must be an integer from 1 to 1000, got 0',
    ],
    [
      { replicas: 1, timeoutMs: 1001 },
      'durability.timeoutMs must be an integer from 1 to 1000, got 1001',
    ],
    [
      { replicas: 1, timeoutMs: 2.5 },
      'durability.timeoutMs must be an integer from 1 to 1000, got 2.5',
    ],
    [{ replica: 1 }, 'durability.replica is not an option; the options are replicas, timeoutMs'],
  ])('C-02 %j is refused', (durability, message) => {
    expect(() => redisStore(client, { durability } as never)).toThrow(message);
  });

  it('a client that cannot WAIT is refused', () => {
    const durability = { replicas: 1 };
    const { wait, ...without } = client;
    expect(wait).toBeDefined();
    expect(() => redisStore(without, { durability })).toThrow(
      'client must be one with wait(), as durability is asked for, got an object',
    );
    expect(() => redisStore({ ...client, isCluster: true }, { durability })).toThrow(
      'client must be one with nodes(), as durability is asked for, got an object',
    );
    expect(() => redisStore(without)).not.toThrow();
  });

  it('waitMs is two WAITs, and 0 without', () => {
    expect(redisStore(client).waitMs).toBe(0);
    expect(redisStore(client).unreplicated).toBeUndefined();
    expect(redisStore(client, { durability: { replicas: 1 } }).waitMs).toBe(10);
    expect(redisStore(client, { durability: { replicas: 2, timeoutMs: 7 } }).waitMs).toBe(14);
  });

  it('the deadline of a limiter is above it', () => {
    const store = redisStore(client, { durability: { replicas: 1 } });
    const make = (deadline?: number | string) =>
      createLimiter({
        store,
        policies: { hourly: { limit: 1, window: '1h' } },
        fallback: { deadline },
      });
    expect(() => make(10)).toThrow(
      'fallback.deadline must be above 10ms, the waitMs of the store, got 10',
    );
    expect(() => make('1ms')).toThrow(
      'fallback.deadline must be above 10ms, the waitMs of the store, got "1ms"',
    );
    expect(() => make(11)).not.toThrow();
    expect(() => make()).not.toThrow();
  });
});

import { channel } from 'node:diagnostics_channel';
import { createRequire } from 'node:module';
import { type Meter, metrics } from '@opentelemetry/api';
import { createLimiter, type Limiter } from '@rl/core';
import { LATENCY_BOUNDS_S } from '@rl/core/metrics';
import { redisStore } from '@rl/core/redis';
import { randomPrefix, sharedRedis, startFaultProxy } from '@rl/testkit';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OBSERVED, STORE_DURATION } from '../src/catalogue.js';
import { publishMetrics } from '../src/index.js';
import { startSdk } from './collect.js';

let sdk: ReturnType<typeof startSdk>;
let meter: Meter;
let stops: (() => void)[];
const closing: (() => Promise<void>)[] = [];

beforeEach(() => {
  sdk = startSdk();
  meter = sdk.provider.getMeter('test');
  stops = [];
});
afterEach(async () => {
  for (const stop of stops) stop();
  for (const close of closing.splice(0)) await close();
  await sdk.provider.shutdown();
});

const FIVE = { limit: 5, window: '1h' };

function publish(limiters: Limiter | Limiter[], own: Meter = meter): () => void {
  const stop = publishMetrics(limiters, { meter: own });
  stops.push(stop);
  return stop;
}

function inMemory(name = 'p'): Limiter {
  return createLimiter({ policies: { [name]: FIVE } });
}

async function take(limiter: Limiter, count: number, name = 'p'): Promise<void> {
  for (let i = 0; i < count; i++) await limiter.consume({ [name]: 'k' });
}

/** What was decided under a policy, in the ways that occurred. */
async function requests(policy = 'p'): Promise<Record<string, unknown>> {
  const { points } = (await sdk.collect()).get('ratelimit.requests') ?? { points: new Map() };
  const occurred = [...points].flatMap(([key, value]) => {
    const attributes = JSON.parse(key);
    expect(Object.keys(attributes)).toHaveLength(4);
    const own = attributes['ratelimit.policy'] === policy && value > 0;
    return own
      ? [[`${attributes['ratelimit.result']} ${attributes['ratelimit.origin']}`, value]]
      : [];
  });
  return Object.fromEntries(occurred);
}

async function single(name: string): Promise<unknown> {
  return (await sdk.collect()).get(name)?.points.get('{}');
}

describe('in memory', () => {
  it('each instrument is as the catalogue has it', async () => {
    publish(inMemory());
    const seen = await sdk.collect();
    const missing = [
      'ratelimit.unreplicated.answers',
      'ratelimit.batch.calls',
      'ratelimit.batch.checks',
    ];
    const kinds = { counter: 'COUNTER', updowncounter: 'UP_DOWN_COUNTER', gauge: 'GAUGE' };
    for (const { name, kind, unit, description, attributes } of OBSERVED) {
      if (missing.includes(name)) continue;
      expect(seen.get(name)).toMatchObject({ type: kinds[kind], unit, description });
      const [first = '{}'] = seen.get(name)?.points.keys() ?? [];
      expect(Object.keys(JSON.parse(first))).toEqual([...attributes].sort());
    }
    expect(seen.size).toBe(OBSERVED.length - missing.length);
  });

  it('says how calls were decided, and how many ways there are', async () => {
    const limiter = inMemory();
    publish(limiter);
    await take(limiter, 7);
    expect(await requests()).toEqual({ 'allowed memory': 5, 'denied memory': 2 });
    const all = (await sdk.collect()).get('ratelimit.requests')?.points;
    expect(all?.size).toBe(12);
    expect(await single('ratelimit.memory.keys')).toBe(1);
    expect((await sdk.collect()).get('ratelimit.store.count')?.points).toEqual(
      new Map([
        ['{"ratelimit.store.state":"up"}', 1],
        ['{"ratelimit.store.state":"returning"}', 0],
        ['{"ratelimit.store.state":"lost"}', 0],
      ]),
    );
  });

  it('limiters on one meter add up, and leave their counts where they stop', async () => {
    const [a, b] = [inMemory(), inMemory()];
    const stop = publish(a);
    publish([b, b]);
    await take(a, 2);
    await take(b, 1);
    expect(await requests()).toEqual({ 'allowed memory': 3 });
    stop();
    expect(await requests()).toEqual({ 'allowed memory': 3 });
    expect(await single('ratelimit.memory.keys')).toBe(1);
  });

  it('after the last has stopped nothing is exported, and nobody listens', async () => {
    const limiter = inMemory();
    const stop = publish(limiter);
    await take(limiter, 1);
    expect(channel('@rl/core:store').hasSubscribers).toBe(true);
    stop();
    expect(await requests()).toEqual({});
    expect(channel('@rl/core:store').hasSubscribers).toBe(false);
    publish(limiter);
    expect(await requests()).toEqual({ 'allowed memory': 1 });
  });

  it('X-01 copies of the module publish a limiter once', async () => {
    const built = '../dist/index.mjs';
    const copies: { publishMetrics: typeof publishMetrics }[] = [
      { publishMetrics },
      createRequire(import.meta.url)('../dist/index.cjs'),
      await import(built),
    ];
    const limiter = inMemory();
    for (const copy of copies) stops.push(copy.publishMetrics(limiter, { meter }));
    await take(limiter, 2);
    expect(await requests()).toEqual({ 'allowed memory': 2 });
    expect(await single('ratelimit.memory.keys')).toBe(1);
  });
});

describe('without a meter of one’s own', () => {
  afterEach(() => metrics.disable());

  it('it is that of the global provider', async () => {
    metrics.setGlobalMeterProvider(sdk.provider);
    const limiter = inMemory();
    stops.push(publishMetrics(limiter));
    await take(limiter, 1);
    expect(await requests()).toEqual({ 'allowed memory': 1 });
  });

  it('and without an SDK nothing happens, and nobody listens', async () => {
    const limiter = inMemory();
    const stop = publishMetrics(limiter);
    await take(limiter, 1);
    expect(channel('@rl/core:store').hasSubscribers).toBe(false);
    stop();
  });
});

describe('on Redis', () => {
  it('the store’s answers are timed, for these limiters alone, and its failures named', async () => {
    const cable = await startFaultProxy(await sharedRedis());
    const client = new Redis({ ...(cable.connection as object), maxRetriesPerRequest: 0 });
    client.on('error', () => {});
    const store = redisStore(client, { prefix: randomPrefix() });
    const policies = { p: FIVE, leased: { limit: 1000, window: '1h', lease: true } };
    const fallback = { deadline: '10s', replicas: 1 };
    const limiter = createLimiter({ policies, store, fallback });
    const other = createLimiter({ policies: { other: FIVE }, store, fallback });
    closing.push(async () => {
      client.disconnect();
      await Promise.all([limiter.close(), other.close()]);
      await store.close();
      await cable.close();
    });
    publish(limiter);
    await take(limiter, 5);
    await take(other, 3, 'other');
    for (let i = 0; i < 20; i++) await limiter.consume({ leased: 'k' });

    const { granted, claims } = limiter.metrics().leases;
    expect(granted).toBeGreaterThan(0);
    expect(await single('ratelimit.lease.permits.granted')).toBe(granted);
    expect(await single('ratelimit.lease.claims')).toBe(claims);
    const { batchSize } = limiter.metrics().shared ?? {};
    expect(await single('ratelimit.batch.calls')).toBe(batchSize?.count);
    expect(await single('ratelimit.batch.checks')).toBe(batchSize?.sum);

    const { storeLatency } = limiter.metrics();
    const { name, unit, description } = STORE_DURATION;
    const answered = (await sdk.collect()).get(name);
    expect(answered).toMatchObject({ type: 'HISTOGRAM', unit, description });
    expect(answered?.points.get('{}')).toMatchObject({
      count: storeLatency.count,
      buckets: { boundaries: LATENCY_BOUNDS_S, counts: storeLatency.counts },
    });

    await cable.refuse();
    await expect.poll(() => client.status).not.toBe('ready');
    await limiter.consume({ p: 'k2' });
    const errors = (await sdk.collect()).get('ratelimit.store.errors')?.points;
    expect(errors?.get('{"error.type":"connection"}')).toBe(
      limiter.metrics().storeErrors.connection,
    );
    expect(errors?.get('{"error.type":"connection"}')).toBeGreaterThan(0);
    // The call, and a claim in advance that no call waited for, where one was due.
    const failed = (await sdk.collect()).get(name)?.points.get('{"error.type":"connection"}');
    const count = limiter.metrics().storeLatency.count - storeLatency.count;
    expect(count).toBeGreaterThan(0);
    expect(failed).toMatchObject({ count });
  });
});

describe('what cannot be used', () => {
  const limiter = inMemory();

  it.each([
    [[7], {}, 'limiters[0] must be a limiter made by createLimiter, got 7'],
    [limiter, 1, 'options must be an object such as { meter }, got 1'],
    [limiter, { meterProvider: 1 }, 'meterProvider is not an option; the options are meter'],
    [limiter, { meter: {} }, 'meter must be a Meter of @opentelemetry/api, got an object'],
  ])('is refused: %s, %s', (limiters, options, message) => {
    expect(() => publishMetrics(limiters as never, options as never)).toThrow(message);
  });
});

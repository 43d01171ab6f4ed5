import {
  createLimiter,
  type Decision,
  type FallbackOptions,
  type Limiter,
  type StoreEvent,
} from '@rl/core';
import { describe, expect, test, vi } from 'vitest';
import { type Answer, ask, askMany } from './client.js';
import { expectAllHandled } from './expect-all-handled.js';
import { parseField } from './fields.js';
import type { AnyRequest, Framework } from './framework.js';
import { PATIENT } from './patient.js';
import { useStores } from './stores.js';
import { useApp } from './use-app.js';
import { type OutOfReach, useLostRedis } from './use-lost-redis.js';
import { useWarnings } from './use-warnings.js';

const everybody = () => 'everybody';

/** A permit comes back every 36 s. */
const POLICY = { limit: 100, window: '1h', key: everybody };

/** As many as the limit. */
const ALL = Array.from({ length: 100 }, () => ({}));

/** More than it takes to lose a store: five failures, and 0.1 s where it is silent for 5 ms each. */
const ENOUGH = 40;

const WAYS: readonly [how: string, way: OutOfReach][] = [
  ['that nobody listens for', 'refuses'],
  ['that accepts and never answers', 'is silent'],
];

/** What clients see while Redis cannot be asked, and when it is back. */
export function describeOutages(framework: Framework): void {
  describe.each(WAYS)('a Redis %s', (_, way) => describeOutage(framework, way));
  describe('a Redis that answers', () => describeAnswers(framework));
}

function describeOutage(framework: Framework, way: OutOfReach): void {
  const start = useApp(framework);
  const redis = useLostRedis();
  const warnings = useWarnings();
  expectAllHandled();

  /** An app with one limiter, and what it told of its Redis. */
  async function startWith(fallback: FallbackOptions) {
    const events: StoreEvent['type'][] = [];
    const onEvent = ({ type }: StoreEvent) => void events.push(type);
    const onError = vi.fn();
    const onHandled = vi.fn();
    const limiter = { ...POLICY, store: redis.open(), fallback: { ...fallback, onEvent } };
    const app = await start({ limiters: [limiter], onError, onHandled });
    return { app, events, onError, onHandled };
  }

  test('closed: 503 with a problem document, and nothing after it runs', async () => {
    await redis.lose(way);
    const { app, events, onError, onHandled } = await startWith({ mode: 'closed' });
    for (let i = 0; i < ENOUGH; i++) expectClosed(await ask(app));
    expect(events).toContain('store-lost');
    expect(onHandled).not.toHaveBeenCalled();
    expect(onError).not.toHaveBeenCalled();
  });

  test('open: all requests go ahead, and are told of no quota', async () => {
    await redis.lose(way);
    const { app, events, onError, onHandled } = await startWith({ mode: 'open' });
    for (let i = 0; i < ENOUGH; i++) expectOpen(await ask(app));
    expect(await askMany(app, [...ALL, ...ALL])).toEqual({ 200: 200 });
    expect(events).toContain('store-lost');
    expect(onHandled).toHaveBeenCalledTimes(ENOUGH + 200);
    expect(onError).not.toHaveBeenCalled();
  });

  test('local: each of 4 replicas admits a quarter, and denies the rest by 429', async () => {
    await redis.lose(way);
    const { app, onError } = await startWith({ mode: 'local', replicas: 4 });
    expect(await askMany(app, ALL)).toEqual({ 200: 25, 429: 75 });
    const denied = await ask(app);
    expect(denied.status).toBe(429);
    expect(Number(denied.headers['retry-after'])).toBeGreaterThan(0);
    expect(parseField(denied, 'RateLimit-Policy')).toEqual([
      { name: 'default', parameters: { q: 100, w: 3600 } },
    ]);
    expect(parseField(denied, 'RateLimit')).toMatchObject([{ parameters: { r: 0 } }]);
    expect(JSON.parse(denied.body)).toMatchObject({ title: 'Quota Exceeded' });
    expect(onError).not.toHaveBeenCalled();
  });

  test('O-08 4 replicas that were told so admit 25 each of 100 a minute', async () => {
    await redis.lose(way);
    // Of a log nothing comes back before the minute is over.
    const policy = { ...POLICY, window: '60s', algorithm: 'sliding-log' } as const;
    const limiters = Array.from({ length: 4 }, () => [
      { ...policy, store: redis.open(), fallback: { replicas: 4 } },
    ]);
    const apps = await Promise.all(limiters.map((own) => start({ limiters: own })));
    const counts = await Promise.all(apps.map((app) => askMany(app, ALL)));
    expect(counts).toEqual(apps.map(() => ({ 200: 25, 429: 75 })));
  });

  test('an app that does not listen to events is warned, once', async () => {
    await redis.lose(way);
    const limiter = { ...POLICY, store: redis.open(), fallback: { replicas: 1 } };
    const app = await start({ limiters: [limiter] });
    for (let i = 0; i < ENOUGH; i++) expect((await ask(app)).status).toBe(200);
    expect(warnings()).toEqual(['RL_STORE_LOST']);
  });

  test('when it is back it decides again, and knows what was spent meanwhile', {
    timeout: 60_000,
  }, async () => {
    // Long enough for its answers on a machine that is busy.
    const fallback = { deadline: '100ms', replicas: 4 };
    const open = await startWith({ ...fallback, mode: 'open' });
    const closed = await startWith({ ...fallback, mode: 'closed' });
    const local = await startWith({ ...fallback, mode: 'local' });
    const all = [open, closed, local];
    await redis.lose(way);
    let spent = 0;
    const askLocal = async (): Promise<Answer> => {
      const answer = await ask(local.app);
      if (answer.status === 200) spent++;
      return answer;
    };
    await untilTrue(async () => {
      await Promise.all([ask(open.app), ask(closed.app), askLocal()]);
      return all.every(({ events }) => events.includes('store-lost'));
    });
    expectOpen(await ask(open.app));
    expectClosed(await ask(closed.app));
    for (let i = 0; i < 25; i++) await askLocal();
    expect(spent).toBe(25);

    await redis.bringBack();
    // Only Redis has permits left, and only of what it knows fields are told.
    await untilTrue(async () => isToldOf(await ask(open.app)));
    await untilTrue(async () => isToldOf(await ask(closed.app)));
    await untilTrue(async () => isToldOf(await askLocal()));
    const { 200: admitted = 0 } = await askMany(local.app, ALL);
    expect(spent + admitted).toBeGreaterThan(25);
    expect(spent + admitted).toBeLessThanOrEqual(100);
    for (const { events, onError } of all) {
      expect(events).toContain('store-back');
      expect(onError).not.toHaveBeenCalled();
    }
  });
}

function describeAnswers(framework: Framework): void {
  const start = useApp(framework);
  const stores = useStores('redis');
  const redis = useLostRedis();
  expectAllHandled();

  test('O-03 a denial is an answer, and no reason to fall back', async () => {
    const onEvent = vi.fn();
    const limiter = createLimiter({
      policies: { p: { limit: 2, window: '1s' } },
      store: stores.frozen().store,
      fallback: { ...PATIENT, mode: 'open', onEvent },
    });
    const decisions = decisionsOf(limiter);
    const cost = ({ headers }: AnyRequest) => Number(headers['x-cost']);
    const app = await start({ limiters: [{ limiter, keys: () => ({ p: 'ann' }), cost }] });
    const statuses: number[] = [];
    for (const price of [3, 1, 1, 1, 1, 1]) {
      statuses.push((await ask(app, { headers: { 'x-cost': price } })).status);
    }
    expect(statuses).toEqual([429, 200, 200, 429, 429, 429]);
    const made = await decisions();
    expect(made.map(({ allowed }) => allowed)).toEqual(statuses.map((status) => status === 200));
    expect(made.map(({ origin }) => origin)).not.toContain('fallback');
    expect(made.map(({ fallback }) => fallback)).toEqual(made.map(() => undefined));
    const told = onEvent.mock.calls.map(([{ type }]) => type);
    expect(told.filter((type) => type !== 'replicas')).toEqual([]);
    await limiter.close();
  });

  test.each(['open', 'closed'] as const)(
    'O-07 too late does not look like a yes: %s',
    async (mode) => {
      const faults: string[] = [];
      const onEvent = (event: StoreEvent) => {
        if (event.type === 'store-failed') faults.push(event.fault);
      };
      const limiter = createLimiter({
        policies: { p: { limit: 1, window: '1h' } },
        store: redis.open(),
        fallback: { mode, deadline: '100ms', replicas: 1, onEvent },
      });
      await untilTrue(async () => (await limiter.peek({ p: 'ann' })).origin === 'store');
      faults.length = 0;
      await redis.lose('is slow');
      const decisions = decisionsOf(limiter);
      const app = await start({ limiters: [{ limiter, keys: () => ({ p: 'ann' }) }] });
      for (let i = 0; i < 2; i++) {
        const answer = await ask(app);
        if (mode === 'open') expectOpen(answer);
        else expectClosed(answer, 'p');
      }
      expect(await decisions()).toMatchObject([
        { allowed: mode === 'open', origin: 'fallback', fallback: { mode, fault: 'timeout' } },
        { allowed: mode === 'open', origin: 'fallback', fallback: { mode, fault: 'timeout' } },
      ]);
      expect(faults.length).toBeGreaterThanOrEqual(2);
      expect(new Set(faults)).toEqual(new Set(['timeout']));
      await limiter.close();
    },
  );
}

function expectClosed(answer: Answer, policy = 'default'): void {
  expect(answer.status).toBe(503);
  expect(answer.headers).toMatchObject({
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    'retry-after': '1',
    // What was set before the limiter stays.
    'access-control-allow-origin': '*',
  });
  expect(JSON.parse(answer.body)).toEqual({
    type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
    title: 'Temporary Reduced Capacity',
    status: 503,
    detail: 'Quotas cannot be checked right now. Try again in 1 s.',
    'violated-policies': [policy],
  });
  expectNothingTold(answer);
}

function expectOpen(answer: Answer): void {
  expect(answer).toMatchObject({ status: 200, body: 'ok' });
  expect(answer.headers).not.toHaveProperty('retry-after');
  expectNothingTold(answer);
}

/** Of a bucket that nobody knows. */
function expectNothingTold({ headers }: Answer): void {
  expect(headers).not.toHaveProperty('ratelimit');
  expect(headers).not.toHaveProperty('ratelimit-policy');
}

function isToldOf({ status, headers }: Answer): boolean {
  return status === 200 && headers.ratelimit !== undefined;
}

/** Asks again and again, for 10 s at most. */
function untilTrue(isTrue: () => Promise<boolean>): Promise<unknown> {
  return vi.waitUntil(isTrue, { interval: 20, timeout: 10_000 });
}

/** What it decides from now on, in the order in which it was asked. */
function decisionsOf(limiter: Limiter): () => Promise<Decision[]> {
  const made: (Decision | Promise<Decision>)[] = [];
  const { tryConsume, consume } = limiter;
  vi.spyOn(limiter, 'tryConsume').mockImplementation((...call) => {
    const decision = tryConsume.apply(limiter, call);
    if (decision !== undefined) made.push(decision);
    return decision;
  });
  vi.spyOn(limiter, 'consume').mockImplementation((...call) => {
    const decision = consume.apply(limiter, call);
    made.push(decision);
    return decision;
  });
  return () => Promise.all(made);
}

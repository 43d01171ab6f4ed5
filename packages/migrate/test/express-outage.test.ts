import { setImmediate as turn } from 'node:timers/promises';
import { ask, expectAllHandled, type Target, useLostRedis, useWarnings } from '@rl/adapter-suite';
import { rateLimit } from 'express-rate-limit';
import { describe, expect, test } from 'vitest';
import { toExpressRateLimitStore } from '../src/index.js';
import { useExpress } from './support/express-app.js';

describe('toExpressRateLimitStore while Redis does not answer', () => {
  const start = useExpress();
  const redis = useLostRedis();
  const warnings = useWarnings();
  expectAllHandled();

  async function statuses(target: Target, count: number): Promise<number[]> {
    const seen: number[] = [];
    for (let i = 0; i < count; i++) seen.push((await ask(target)).status);
    return seen;
  }

  test.each(['refuses', 'is silent'] as const)('it %s: each replica has its share', async (how) => {
    await redis.lose(how);
    const fallback = { replicas: 2, onEvent: () => {} };
    const store = toExpressRateLimitStore({ store: redis.open(), fallback });
    const limiter = rateLimit({ limit: 8, windowMs: 60_000, skipFailedRequests: true, store });
    const { target } = await start(limiter);
    expect(await statuses(target, 6)).toEqual([200, 200, 200, 200, 429, 429]);
    limiter.resetKey('127.0.0.1');
    await turn();
    await store.resetKey('127.0.0.1');
    expect(warnings()).toEqual(['RL_STORE_FAILED']);
  });

  test('limits for each request are compared with what the others are taken to have spent', async () => {
    await redis.lose('refuses');
    const fallback = { replicas: 4, onEvent: () => {} };
    const store = toExpressRateLimitStore({ store: redis.open(), limit: 100, fallback });
    const { target } = await start(rateLimit({ limit: () => 8, windowMs: 60_000, store }));
    expect(await statuses(target, 4)).toEqual([200, 200, 429, 429]);
  });

  test('open: all go ahead, whatever the limit of each request', async () => {
    await redis.lose('refuses');
    const fallback = { mode: 'open', onEvent: () => {} } as const;
    const store = toExpressRateLimitStore({ store: redis.open(), limit: 3, fallback });
    const { target } = await start(rateLimit({ limit: () => 1, windowMs: 60_000, store }));
    expect(await statuses(target, 5)).toEqual([200, 200, 200, 200, 200]);
  });

  test('closed: all are denied, and told to come back soon', async () => {
    await redis.lose('refuses');
    const fallback = { mode: 'closed', onEvent: () => {} } as const;
    const store = toExpressRateLimitStore({ store: redis.open(), fallback });
    const { target } = await start(rateLimit({ limit: 3, windowMs: 60_000, store }));
    const answer = await ask(target);
    expect(answer).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
  });
});

import { createLimiter, type HistogramReading, type Limiter } from '@rl/core';
import { redisStore } from '@rl/core/redis';
import { type FaultProxy, randomPrefix, sharedRedis, startFaultProxy } from '@rl/testkit';
import { Redis } from 'ioredis';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { publishMetrics } from '../src/index.js';
import { decisions, scrape } from './support/scrape.js';

const POLICIES = {
  p: { limit: 5, window: '1h' },
  leased: { limit: 1000, window: '1h', lease: true },
};

let cable: FaultProxy;
let client: Redis;
let store: ReturnType<typeof redisStore>;
let limiter: Limiter;
let registry: Registry;

beforeEach(async () => {
  cable = await startFaultProxy(await sharedRedis());
  client = new Redis({ ...(cable.connection as object), maxRetriesPerRequest: 0 });
  client.on('error', () => {});
  // There is no Redis replica: no answer is ever confirmed.
  const durability = { replicas: 1, timeoutMs: 1 };
  store = redisStore(client, { prefix: randomPrefix(), durability });
  const fallback = { deadline: '10s', replicas: 3 };
  limiter = createLimiter({ policies: POLICIES, store, fallback });
  registry = new Registry();
});
afterEach(async () => {
  client.disconnect();
  await limiter.close();
  await store.close();
  await cable.close();
});

async function take(key: keyof typeof POLICIES, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await limiter.consume({ [key]: 'k' });
}

/** What a scrape has to say of a histogram. */
function told(name: string, reading: HistogramReading | undefined): Record<string, number> {
  if (reading === undefined) throw new Error(`nothing is known of ${name}`);
  const { bounds, counts, count, sum } = reading;
  const upTo = (i: number) => counts.slice(0, i + 1).reduce((total, value) => total + value, 0);
  return {
    ...Object.fromEntries(bounds.map((le, i) => [`${name}_bucket{le="${le}"}`, upTo(i)])),
    [`${name}_bucket{le="+Inf"}`]: count,
    [`${name}_sum`]: sum,
    [`${name}_count`]: count,
  };
}

describe('a scrape of a limiter on Redis', () => {
  it('has the leases, the batches, the latencies and the denials as the limiter has them', async () => {
    publishMetrics(limiter, { registry });
    await take('p', 7);
    await take('leased', 20);
    expect(await decisions(registry, 'p')).toEqual({
      'allowed store': 5,
      'denied store': 1,
      'denied memory': 1,
    });
    const metrics = limiter.metrics();
    const { claims, granted, returned, writtenOff, buckets } = metrics.leases;
    expect(Math.min(claims, granted, buckets)).toBeGreaterThan(0);
    expect(metrics.rememberedDenials).toBe(1);
    const series = await scrape(registry);
    // As docs/metrics.md works it out.
    expect(Object.keys(series)).toHaveLength(2 * 12 + 33 + 9 + 1);
    expect(series).toMatchObject({
      ratelimit_lease_claims_total: claims,
      ratelimit_lease_permits_granted_total: granted,
      ratelimit_lease_permits_returned_total: returned,
      ratelimit_lease_permits_written_off_total: writtenOff,
      ratelimit_lease_buckets: buckets,
      ratelimit_remembered_denials: 1,
      ratelimit_replicas: 3,
      ...told('ratelimit_batch_size', metrics.shared?.batchSize),
      ...told('ratelimit_store_latency_seconds', metrics.storeLatency),
    });
    const leased = await decisions(registry, 'leased');
    expect(Object.values(leased).reduce((a, b) => a + b, 0)).toBe(20);
    expect(leased['allowed lease']).toBeGreaterThan(0);
  });

  it('counts what was returned when a limiter closed, and keeps it when that stops', async () => {
    const stop = publishMetrics(limiter, { registry });
    await take('leased', 20);
    await limiter.close();
    const { granted, returned } = limiter.metrics().leases;
    expect(returned).toBeGreaterThan(0);
    stop();
    expect(await scrape(registry)).toMatchObject({
      ratelimit_lease_permits_granted_total: granted,
      ratelimit_lease_permits_returned_total: returned,
      ratelimit_lease_buckets: 0,
    });
  });

  it('counts a store once for all limiters on it, also what was not replicated', async () => {
    const other = createLimiter({ policies: { q: POLICIES.p }, store });
    publishMetrics([limiter, other], { registry });
    await take('p', 1);
    const { unreplicated } = limiter.health();
    expect(unreplicated).toBe(1);
    expect(await scrape(registry)).toMatchObject({
      ratelimit_unreplicated_answers_total: 1,
      ratelimit_batch_size_count: limiter.metrics().shared?.batchSize?.count,
      'ratelimit_store_state{state="up"}': 1,
    });
    await other.close();
  });

  it('tells of a store that is lost: its errors, its state, what it is owed', async () => {
    publishMetrics(limiter, { registry });
    await take('p', 1);
    await cable.refuse();
    await expect.poll(() => client.status).not.toBe('ready');
    await expect
      .poll(async () => {
        await limiter.consume({ leased: 'another' });
        return limiter.health().store;
      })
      .toBe('lost');
    const { storeErrors } = limiter.metrics();
    const { owed } = limiter.health();
    expect(Math.min(storeErrors.connection, owed)).toBeGreaterThan(0);
    expect(await scrape(registry)).toMatchObject({
      ...Object.fromEntries(
        Object.entries(storeErrors).map(([kind, count]) => [
          `ratelimit_store_errors_total{kind="${kind}"}`,
          count,
        ]),
      ),
      'ratelimit_store_state{state="up"}': 0,
      'ratelimit_store_state{state="lost"}': 1,
      ratelimit_owed_buckets: owed,
      ratelimit_forgotten_permits_total: 0,
    });
    const { 'fallback_allowed fallback': admitted } = await decisions(registry, 'leased');
    expect(admitted).toBeGreaterThan(0);
  });
});

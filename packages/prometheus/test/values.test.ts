import { createLimiter, type Limiter, memoryStore } from '@rl/core';
import { ManualClock } from '@rl/core/testing';
import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it } from 'vitest';
import { FAMILIES } from '../src/catalogue.js';
import { publishMetrics } from '../src/index.js';
import { parseExposition } from './support/exposition.js';
import { decisions, scrape } from './support/scrape.js';

let registry: Registry;
beforeEach(() => {
  registry = new Registry();
});

const FIVE = { limit: 5, window: '1h' };

async function take(limiter: Limiter, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await limiter.consume({ p: 'k' });
}

describe('a scrape', () => {
  it('has one family for each of the catalogue, in its order', async () => {
    publishMetrics(createLimiter({ policies: { p: FIVE } }), { registry });
    const families = parseExposition(await registry.metrics());
    expect([...families].map(([name, { type, help }]) => ({ name, type, help }))).toEqual(
      FAMILIES.map(({ name, type, help }) => ({ name, type, help })),
    );
    for (const { help } of FAMILIES) expect(help).toMatch(/^[A-Z][^.]*\.$/);
  });

  it('says of each policy in what ways calls were decided, also how none was', async () => {
    const limiter = createLimiter({ policies: { p: FIVE, quiet: FIVE } });
    publishMetrics(limiter, { registry });
    await take(limiter, 7);
    expect(await decisions(registry, 'p')).toEqual({ 'allowed memory': 5, 'denied memory': 2 });
    const all = Object.keys(await scrape(registry)).filter((series) => series.includes('quiet'));
    const ways = { store: 3, lease: 3, memory: 3, fallback: 3 };
    for (const [origin, count] of Object.entries(ways)) {
      const own = all.filter((series) => series.endsWith(`,origin="${origin}"}`));
      expect(own).toHaveLength(count);
    }
    expect(all).toHaveLength(12);
  });

  it('counts what a policy that only watches would have denied', async () => {
    const limiter = createLimiter({ policies: { p: { ...FIVE, shadow: true } } });
    publishMetrics(limiter, { registry });
    await take(limiter, 7);
    expect(await decisions(registry, 'p')).toEqual({
      'allowed memory': 5,
      'shadow_denied memory': 2,
    });
  });

  it('X-03 counts denials wherever they are made, and nothing where nothing was charged', async () => {
    const limiter = createLimiter({ policies: { a: { limit: 50, window: '1m' }, b: FIVE } });
    publishMetrics(limiter, { registry });
    for (let i = 0; i < 20; i++) await limiter.consume({ a: 'k', b: 'k' });
    expect(await decisions(registry, 'a')).toEqual({ 'allowed memory': 5 });
    expect(await decisions(registry, 'b')).toEqual({ 'allowed memory': 5, 'denied memory': 15 });
  });

  it('shows a key class from its first call on', async () => {
    const limiter = createLimiter({ policies: { p: FIVE } });
    publishMetrics(limiter, { registry });
    expect(await decisions(registry, 'p', 'gold')).toEqual({});
    await limiter.consume({ p: 'k' }, { policies: { p: { limit: 50, keyClass: 'gold' } } });
    expect(await decisions(registry, 'p', 'gold')).toEqual({ 'allowed memory': 1 });
  });

  it('counts the buckets of a store in memory, and those it forgot', async () => {
    const store = memoryStore({ maxKeys: 10, clock: new ManualClock() });
    publishMetrics(createLimiter({ policies: { p: FIVE }, store }), { registry });
    const limiter = createLimiter({ policies: { q: FIVE }, store });
    for (let i = 0; i < 12; i++) await limiter.consume({ q: `k${i}` });
    expect(await scrape(registry)).toMatchObject({
      ratelimit_memory_keys: 10,
      ratelimit_memory_evictions_total: 2,
      'ratelimit_store_state{state="up"}': 1,
      'ratelimit_store_state{state="lost"}': 0,
      ratelimit_replicas: 1,
    });
  });

  it('leaves out what does not apply: a store in memory has no batches, no Redis replicas', async () => {
    publishMetrics(createLimiter({ policies: { p: FIVE } }), { registry });
    const families = parseExposition(await registry.metrics());
    const empty = [...families].filter(([, { series }]) => series.size === 0).map(([name]) => name);
    expect(empty).toEqual(['ratelimit_unreplicated_answers_total', 'ratelimit_batch_size']);
  });
});

describe('limiters on one registry', () => {
  it('add up where policy and key class are the same', async () => {
    const limiters = [FIVE, FIVE].map((p) => createLimiter({ policies: { p } }));
    publishMetrics(limiters, { registry });
    for (const limiter of limiters) await take(limiter, 6);
    expect(await decisions(registry, 'p')).toEqual({ 'allowed memory': 10, 'denied memory': 2 });
    expect(await scrape(registry)).toMatchObject({
      ratelimit_memory_keys: 2,
      'ratelimit_store_state{state="up"}': 2,
    });
  });

  it('that share a store count it once', async () => {
    const store = memoryStore();
    const limiters = ['p', 'q'].map((p) => createLimiter({ policies: { [p]: FIVE }, store }));
    publishMetrics(limiters, { registry });
    await take(limiters[0] as Limiter, 1);
    expect(await scrape(registry)).toMatchObject({
      ratelimit_memory_keys: 1,
      'ratelimit_store_state{state="up"}': 1,
    });
  });

  it('leave their counts where they stop, and go on from there', async () => {
    const limiter = createLimiter({ policies: { p: FIVE } });
    const other = createLimiter({ policies: { p: FIVE } });
    publishMetrics(other, { registry });
    const stop = publishMetrics(limiter, { registry });
    await take(limiter, 2);
    await take(other, 1);
    stop();
    stop();
    expect(await decisions(registry, 'p')).toEqual({ 'allowed memory': 3 });
    expect(await scrape(registry)).toMatchObject({ 'ratelimit_store_state{state="up"}': 1 });
    await take(limiter, 1);
    expect(await decisions(registry, 'p')).toEqual({ 'allowed memory': 3 });
    publishMetrics(limiter, { registry });
    expect(await decisions(registry, 'p')).toEqual({ 'allowed memory': 4 });
    await take(limiter, 1);
    expect(await decisions(registry, 'p')).toEqual({ 'allowed memory': 5 });
  });

  it('that are closed keep what they counted', async () => {
    const limiter = createLimiter({ policies: { p: FIVE } });
    const stop = publishMetrics(limiter, { registry });
    await take(limiter, 2);
    await limiter.close();
    expect(await decisions(registry, 'p')).toEqual({ 'allowed memory': 2 });
    stop();
    expect(await decisions(registry, 'p')).toEqual({ 'allowed memory': 2 });
  });

  it('are published as long as one of those who published them has not stopped', async () => {
    const limiter = createLimiter({ policies: { p: FIVE } });
    const stops = [1, 2].map(() => publishMetrics([limiter, limiter], { registry }));
    await take(limiter, 1);
    expect(await decisions(registry, 'p')).toEqual({ 'allowed memory': 1 });
    stops[0]?.();
    await take(limiter, 1);
    expect(await decisions(registry, 'p')).toEqual({ 'allowed memory': 2 });
    stops[1]?.();
    await take(limiter, 1);
    expect(await decisions(registry, 'p')).toEqual({ 'allowed memory': 2 });
  });
});

describe('what cannot be used', () => {
  const limiter = createLimiter({ policies: { p: FIVE } });

  it.each([
    [undefined, {}, 'limiters must be a limiter made by createLimiter, got undefined'],
    [[limiter, 7], {}, 'limiters[1] must be a limiter made by createLimiter, got 7'],
    [limiter, null, 'options must be an object such as { registry }, got null'],
    [limiter, { register: 1 }, 'register is not an option; the options are registry'],
    [limiter, { registry: 'r' }, 'registry must be a Registry of prom-client, got "r"'],
  ])('is refused: %s, %s', (limiters, options, message) => {
    expect(() => publishMetrics(limiters as never, options as never)).toThrow(message);
  });
});

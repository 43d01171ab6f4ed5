import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createLimiter } from '@rl/core';
import { AggregatorRegistry, Counter, Registry, register } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { FAMILIES } from '../src/catalogue.js';
import { publishMetrics } from '../src/index.js';
import { parseExposition } from './support/exposition.js';
import { decisions, scrape } from './support/scrape.js';

const FIVE = { limit: 5, window: '1h' };
const NAMES = FAMILIES.map(({ name }) => name);

afterEach(() => register.clear());

describe('X-01 on one registry', () => {
  it('two limiters are two by label, with one family a name', async () => {
    const [a, b] = ['a', 'b'].map((name) => createLimiter({ policies: { [name]: FIVE } }));
    publishMetrics(a as never);
    publishMetrics(b as never);
    await a?.consume({ a: 'k' });
    await b?.consume({ b: 'k' });
    expect([...parseExposition(await register.metrics()).keys()]).toEqual(NAMES);
    expect(await decisions(register, 'a')).toEqual({ 'allowed memory': 1 });
    expect(await decisions(register, 'b')).toEqual({ 'allowed memory': 1 });
  });

  it('copies of the module, as ES module, CommonJS and source, publish a limiter once', async () => {
    const built = '../dist/index.mjs';
    const copies: { publishMetrics: typeof publishMetrics }[] = [
      { publishMetrics },
      createRequire(import.meta.url)('../dist/index.cjs'),
      await import(built),
      await import(`${built}?reloaded`),
    ];
    expect(new Set(copies.map((copy) => copy.publishMetrics)).size).toBe(4);
    const limiter = createLimiter({ policies: { p: FIVE } });
    const stops = copies.map((copy) => copy.publishMetrics(limiter));
    await limiter.consume({ p: 'k' });
    expect([...parseExposition(await register.metrics()).keys()]).toEqual(NAMES);
    expect(await decisions(register, 'p')).toEqual({ 'allowed memory': 1 });
    for (const stop of stops) stop();
    await limiter.consume({ p: 'k' });
    expect(await decisions(register, 'p')).toEqual({ 'allowed memory': 1 });
  });

  it('a registry of one’s own has all, and the default one nothing', async () => {
    const registry = new Registry();
    publishMetrics(createLimiter({ policies: { p: FIVE } }), { registry });
    expect([...parseExposition(await registry.metrics()).keys()]).toEqual(NAMES);
    expect(register.getMetricsAsArray()).toEqual([]);
  });

  it('to import the packages, and to make a limiter, registers nothing', async () => {
    const program = `
      import { createLimiter } from '@rl/core';
      import '@rl/core/http';
      import '@rl/core/redis';
      import { publishMetrics } from '@rl/prometheus';
      import { register } from 'prom-client';
      const limiter = createLimiter({ policies: { p: { limit: 1, window: '1m' } } });
      const counts = [register.getMetricsAsArray().length];
      publishMetrics(limiter);
      console.log(counts.concat(register.getMetricsAsArray().length).join());`;
    const args = ['--input-type=module', '--eval', program];
    const cwd = fileURLToPath(new URL('..', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd });
    expect(stdout).toBe(`0,${NAMES.length}\n`);
  });

  it('a metric of somebody else with one of the names is told of, and nothing is registered', () => {
    const registry = new Registry();
    new Counter({ name: 'ratelimit_batch_size', help: 'Mine.', registers: [registry] });
    const limiter = createLimiter({ policies: { p: FIVE } });
    expect(() => publishMetrics(limiter, { registry })).toThrow(
      /^registry must be one without another metric named ratelimit_batch_size, got /,
    );
    expect(registry.getMetricsAsArray()).toHaveLength(1);
  });
});

describe('what prom-client does with a registry works', () => {
  async function published(): Promise<Registry> {
    const registry = new Registry();
    const limiter = createLimiter({ policies: { p: FIVE } });
    publishMetrics(limiter, { registry });
    for (let i = 0; i < 7; i++) await limiter.consume({ p: 'k' });
    return registry;
  }

  it('JSON, single metrics and default labels', async () => {
    const registry = await published();
    const json = await registry.getMetricsAsJSON();
    expect(json.map(({ name }) => name)).toEqual(NAMES);
    expect(registry.getSingleMetric('ratelimit_replicas')).toMatchObject({ type: 'gauge' });
    expect(await registry.getSingleMetricAsString('ratelimit_replicas')).toMatch(
      /ratelimit_replicas 1$/,
    );
    registry.setDefaultLabels({ app: 'shop' });
    const labelled = await registry.getMetricsAsJSON();
    expect(labelled.find(({ name }) => name === 'ratelimit_replicas')?.values).toEqual([
      { value: 1, labels: { app: 'shop' } },
    ]);
    expect(await scrape(registry)).toMatchObject({ 'ratelimit_replicas{app="shop"}': 1 });
  });

  it('metrics of a cluster’s workers are summed, replicas not', async () => {
    const workers = [await published(), await published()];
    const sent = await Promise.all(workers.map((worker) => worker.getMetricsAsJSON()));
    const cluster = AggregatorRegistry.aggregate(JSON.parse(JSON.stringify(sent))) as Registry;
    expect(await decisions(cluster, 'p')).toEqual({ 'allowed memory': 10, 'denied memory': 4 });
    expect(await scrape(cluster)).toMatchObject({
      ratelimit_replicas: 1,
      ratelimit_memory_keys: 2,
      'ratelimit_store_latency_seconds_bucket{le="+Inf"}': 0,
    });
  });

  it('OpenMetrics, and then another limiter', async () => {
    const registry = (await published()) as Registry<never>;
    const before = await registry.getMetricsAsJSON();
    registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never);
    for (let i = 0; i < 2; i++) {
      const text = await registry.metrics();
      expect(text.match(/^# TYPE ratelimit_decisions .*$/gm)).toEqual([
        '# TYPE ratelimit_decisions counter',
      ]);
      expect(text).toContain(
        '\nratelimit_decisions_total{policy="p",key_class="default",outcome="denied",origin="memory"} 2\n',
      );
      expect(text.endsWith('# EOF\n')).toBe(true);
      publishMetrics(createLimiter({ policies: { q: FIVE } }), { registry });
    }
    expect(await registry.getMetricsAsJSON()).toHaveLength(before.length);
  });

  it('a merge with another registry', async () => {
    const other = new Registry();
    new Counter({ name: 'app_total', help: 'Of the app.', registers: [other] });
    const merged = Registry.merge([await published(), other]);
    expect([...parseExposition(await merged.metrics()).keys()]).toEqual([...NAMES, 'app_total']);
    expect(await decisions(merged, 'p')).toEqual({ 'allowed memory': 5, 'denied memory': 2 });
  });

  it('a reset changes nothing: what a limiter counted it has counted', async () => {
    const registry = await published();
    registry.resetMetrics();
    expect(await decisions(registry, 'p')).toEqual({ 'allowed memory': 5, 'denied memory': 2 });
  });

  it('what was removed comes back with the next limiter, and the others with it', async () => {
    const registry = await published();
    registry.removeSingleMetric('ratelimit_decisions_total');
    expect(await decisions(registry, 'p')).toEqual({});
    publishMetrics(createLimiter({ policies: { q: FIVE } }), { registry });
    expect(await decisions(registry, 'p')).toEqual({ 'allowed memory': 5, 'denied memory': 2 });
  });

  it('a registry that was cleared begins anew', async () => {
    const registry = await published();
    registry.clear();
    expect(await registry.metrics()).toBe('\n');
    publishMetrics(createLimiter({ policies: { q: FIVE } }), { registry });
    expect([...parseExposition(await registry.metrics()).keys()]).toEqual(NAMES);
    expect(await decisions(registry, 'p')).toEqual({});
  });
});

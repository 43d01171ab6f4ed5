import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLimiter, type Limiter, memoryStore } from '@rl/core';
import { redisStore } from '@rl/core/redis';
import { publishMetrics } from '@rl/prometheus';
import { Redis } from 'ioredis';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Fleet, startFleet } from '../src/fleet.js';
import { type Load, startLoad } from '../src/load.js';
import { ROWS } from '../src/panels.js';
import { type Prometheus, startPrometheus } from '../src/prometheus.js';
import { rules } from './folder.js';
import { groupedBy, selectorsOf } from './queries.js';

/** Long enough for two scrapes and an evaluation, on a busy machine. */
const TRAFFIC_MS = 8_000;

const CUSTOMERS = {
  ann: { path: '/', headers: { 'x-api-key': 'key-of-ann' }, rate: 50 },
  bob: { path: '/search?pages=2', headers: { 'x-api-key': 'key-of-bob' }, rate: 5 },
  guest: { path: '/login', method: 'POST', rate: 1 },
};

let fleet: Fleet;
let prometheus: Prometheus;
let other: Server;
let load: Load;
let client: Redis;
const limiters: Limiter[] = [];
const labelsOf = new Map<string, Set<string>>();

beforeAll(async () => {
  fleet = await startFleet(3);
  client = new Redis(fleet.redis.url);
  other = await serve(otherLimiters(client));
  const { port } = other.address() as AddressInfo;
  const targets = fleet.replicas.map(({ operations }) => new URL(operations).host);
  prometheus = await startPrometheus({ api: targets, other: [`127.0.0.1:${port}`] }, 1);
  load = startLoad(
    fleet.replicas.map(({ url }) => url),
    CUSTOMERS,
  );
  const until = performance.now() + TRAFFIC_MS;
  while (performance.now() < until || !(await isRecorded())) {
    await useOthers();
    await sleep(20);
  }
  for (const { metric } of await prometheus.query('{__name__=~".*ratelimit_.*|job:.*|up"}')) {
    const { __name__: name = '', ...labels } = metric;
    const known = labelsOf.get(name) ?? new Set();
    for (const label of Object.keys(labels)) known.add(label);
    labelsOf.set(name, known);
  }
});

afterAll(async () => {
  await load?.stop();
  await Promise.all(limiters.map((limiter) => limiter.close()));
  client?.disconnect();
  other?.close();
  await prometheus?.close();
  await fleet?.close();
});

/** What the example has not: leases, a policy that only watches, answers to be replicated, a full memory. */
function otherLimiters(redis: Redis): Registry {
  const store = redisStore(redis, { prefix: 'other', durability: { replicas: 1, timeoutMs: 1 } });
  limiters.push(
    createLimiter({
      store,
      policies: {
        hot: { limit: 1000, window: '1s', lease: true },
        trial: { limit: 1, window: '1m', shadow: true },
      },
    }),
    createLimiter({
      store: memoryStore({ maxKeys: 10 }),
      policies: { local: { limit: 2, window: '1m' } },
    }),
  );
  const registry = new Registry();
  publishMetrics(limiters, { registry });
  return registry;
}

/** Whether all have been scraped and rules have been evaluated since: on a machine that is slow it may not be so yet. */
async function isRecorded(): Promise<boolean> {
  const [up] = await prometheus.query('sum(up)');
  const latency = await prometheus.query('job:ratelimit_store_latency_seconds:p99_rate5m > 0');
  return up?.value[1] === '4' && latency.length === 2;
}

let turn = 0;
async function useOthers(): Promise<void> {
  const [shared, local] = limiters as [Limiter, Limiter];
  await shared.consume({ hot: 'one' });
  await shared.consume({ trial: 'one' });
  await local.consume({ local: `client-${turn++}` });
}

async function serve(registry: Registry): Promise<Server> {
  const server = createServer((_, res) => {
    registry.metrics().then(
      (text) => res.end(text),
      (error) => res.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const QUERIES = ROWS.flatMap(({ panels }) =>
  panels.flatMap(({ title, queries }) => queries.map((query) => ({ title, ...query }))),
);

/** As Grafana makes it of a panel's query with all chosen. */
function chosen(expr: string, job = '.*'): string {
  return expr
    .replaceAll('$job', job)
    .replaceAll(/\$(policy|key_class)\b/g, '.*')
    .replaceAll('$__rate_interval', '10s');
}

test.each(QUERIES)('$title: $legend has data', async ({ expr, legend }) => {
  const series = await prometheus.query(chosen(expr));
  const values = series.map(({ value }) => Number(value[1])).filter(Number.isFinite);
  expect(values.length, expr).toBeGreaterThan(0);
  for (const [, label = ''] of legend.matchAll(/\{\{(\w+)\}\}/g)) {
    for (const { metric } of series) expect(metric, expr).toHaveProperty(label);
  }
});

test.each(QUERIES.filter(({ always = true }) => always))(
  '$title: $legend has data of the example by itself',
  async ({ expr }) => {
    expect(await prometheus.query(chosen(expr, 'api')), expr).not.toEqual([]);
  },
);

test('the dashboard and the rules name only metrics and labels that a scrape has', () => {
  const every = [...QUERIES.map(({ expr }) => expr), ...rules().map(({ expr }) => expr)];
  const all = new Set([...labelsOf.values()].flatMap((labels) => [...labels]));
  for (const expr of every) {
    const selectors = selectorsOf(expr);
    if (!expr.includes('up')) expect(selectors, expr).not.toEqual([]);
    for (const { metric, labels } of selectors) {
      expect([...labelsOf.keys()], expr).toContain(metric);
      for (const label of labels) expect([...(labelsOf.get(metric) ?? [])], expr).toContain(label);
    }
    for (const label of groupedBy(expr)) expect([...all], expr).toContain(label);
  }
});

test('each metric that a scrape has is on the dashboard', () => {
  const shown = new Set(
    QUERIES.flatMap(({ expr }) => selectorsOf(expr).map(({ metric }) => metric)),
  );
  const scraped = [...labelsOf.keys()].filter((name) => name.startsWith('ratelimit_'));
  const missing = scraped.filter((name) => !shown.has(name) && !/_(sum|count)$/.test(name));
  expect(missing).toEqual([]);
});

test('Prometheus evaluates each rule without an error', async () => {
  const response = await fetch(`${prometheus.url}/api/v1/rules`);
  const { data } = (await response.json()) as {
    data: { groups: { rules: { name: string; health: string; lastError?: string }[] }[] };
  };
  const evaluated = data.groups.flatMap((group) => group.rules);
  expect(evaluated).toHaveLength(rules().length);
  for (const { name, health, lastError } of evaluated) {
    expect([name, health, lastError]).toEqual([name, 'ok', undefined]);
  }
});

test('what was recorded is what happened: ann is denied most of her calls, bob is not', async () => {
  const [free] = await prometheus.query(
    'job:ratelimit_denied:ratio_rate5m{job="api", policy="tier", key_class="free"}',
  );
  expect(Number(free?.value[1])).toBeGreaterThan(0.5);
  const pending = async () =>
    (await prometheus.alerts())
      .filter(({ labels }) => labels.alertname === 'RateLimitManyDenied')
      .map(({ labels }) => `${labels.policy} ${labels.key_class}`);
  // Her calls have to be one in two seconds of the last five minutes.
  await expect.poll(pending, { timeout: 25_000, interval: 500 }).toContain('tier free');
});

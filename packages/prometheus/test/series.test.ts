import type { AddressInfo } from 'node:net';
import { createLimiter, memoryStore } from '@rl/core';
import { Gate, type NodeRequest, nodeReader } from '@rl/core/http';
import { rateLimit } from '@rl/express';
import express from 'express';
import { register } from 'prom-client';
import { afterEach, expect, test } from 'vitest';
import { publishMetrics } from '../src/index.js';
import { scrape } from './support/scrape.js';

afterEach(() => register.clear());

const POLICIES = { api: { limit: 3, window: '1m' }, login: { limit: 3, window: '1m' } };
const CLIENTS = 10_000;

test('X-02 no key, address or path makes a series: 10,000 of each change nothing', async () => {
  const limiter = createLimiter({ policies: POLICIES, store: memoryStore() });
  publishMetrics(limiter);
  const before = Object.keys(await scrape(register));
  const gate = new Gate<NodeRequest & { url: string }>(
    {
      limiter,
      keys: ({ headers, url }) => ({ api: `${headers['x-key']}`, login: `${url}` }),
    },
    nodeReader(
      (request) => request,
      (request) => request.socket?.remoteAddress,
    ),
  );
  for (let i = 0; i < CLIENTS; i++) {
    const remoteAddress = `10.9.${i >> 8}.${i & 255}`;
    const headers = { 'x-key': `secret-${i}` };
    gate.judge({ method: 'GET', url: `/no/such/${i}`, headers, socket: { remoteAddress } });
  }
  const after = await scrape(register);
  expect(Object.keys(after)).toEqual(before);
  expect(after.ratelimit_memory_keys).toBe(2 * CLIENTS);
  // As docs/metrics.md works it out.
  expect(before).toHaveLength(2 * 12 + 33 + 2);
  expect(Object.keys(after).join('\n')).not.toMatch(/secret|no\/such|10\.9\./);
});

test('X-02 nor does Express: each unknown path and address is charged, and none is a label', async () => {
  const limiter = createLimiter({ policies: POLICIES });
  publishMetrics(limiter);
  const app = express();
  app.use(rateLimit({ limiter, keys: ({ path, ip }) => ({ api: path, login: `${ip}` }) }));
  app.get('/metrics', async (_req, res) => {
    res.type(register.contentType).send(await register.metrics());
  });
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const before = Object.keys(await scrape(register));
  for (let i = 0; i < 10; i++) await (await fetch(`${url}/wp-admin/${i}`)).text();
  const response = await fetch(`${url}/metrics`);
  expect(response.status).toBe(429);
  expect(Object.keys(await scrape(register))).toEqual(before);
  expect(await register.metrics()).not.toMatch(/wp-admin|127\.0\.0\.1/);
  await new Promise((resolve) => server.close(resolve));
});

import { memoryStore } from '@rl/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findCustomer } from '../src/customers.js';
import { createServiceLimiter, tierOf } from '../src/limiter.js';
import { type Operations, serveOperations } from '../src/operations.js';

const limiter = createServiceLimiter(memoryStore(), {});
let operations: Operations;

beforeEach(async () => {
  operations = await serveOperations(limiter, '127.0.0.1', 0);
});
afterEach(() => operations.close());

async function get(path: string): Promise<string> {
  const response = await fetch(`${operations.url}${path}`);
  return `${response.status} ${await response.text()}`;
}

test('operators see calls by tier, who is denied, and why; not what there is not', async () => {
  const policies = tierOf(findCustomer('key-of-bob'));
  for (let call = 0; call < 21; call++) await limiter.consume({ tier: 'bob' }, { policies });
  const metrics = await get('/metrics');
  expect(metrics).toContain(
    'ratelimit_decisions_total{policy="tier",key_class="paid",outcome="allowed",origin="memory"} 20',
  );
  expect(metrics).not.toContain('bob');
  const denied = [{ key: 'bob', count: 1, error: 0 }];
  expect(JSON.parse((await get('/top')).slice(4))[0]).toMatchObject({ policy: 'tier', denied });
  const explained = JSON.parse((await get('/explain?tier=bob')).slice(4));
  expect(explained.each[0]).toMatchObject({ policy: { limit: 20, keyClass: 'paid' }, fits: false });
  expect(await get('/ratelimit/')).toContain('Is this key denied, and why?');
  const asked = { 'rl-policy': 'tier', 'rl-key': 'bob' };
  const page = await fetch(`${operations.url}/ratelimit/explain`, { headers: asked });
  const { answer } = (await page.json()) as { answer: string };
  expect(answer).toContain('Denied: 0 of 20 permits are left');
  expect(await get('/explain?unknown=bob')).toBe('404 ');
  expect(await get('/explain')).toBe('404 ');
  expect(await get('/')).toBe('404 ');
});

import { expect, it } from 'vitest';
import { createLimiter } from '../../src/limiter/limiter.js';
import { asyncResourcesOf } from '../support/async-resources.js';

it('the probe sees promises and timers', () => {
  const kinds = asyncResourcesOf(() => {
    clearTimeout(setTimeout(() => {}, 1));
    void Promise.resolve().then(() => {});
  });
  expect(kinds).toContain('Timeout');
  expect(kinds).toContain('PROMISE');
});

it('G8 a local decision allocates no promise, makes no network call and starts no timer', async () => {
  const limiter = createLimiter({ policies: { p: { limit: 500, window: '1h' } } });
  const allowed: (boolean | undefined)[] = [];
  const kinds = asyncResourcesOf(() => {
    for (let i = 0; i < 1000; i++) allowed.push(limiter.tryConsume({ p: 'k' })?.allowed);
  });
  expect(kinds).toEqual([]);
  expect(allowed.filter(Boolean)).toHaveLength(500);
  await limiter.close();
});

it('G8 nor does what is noted of it: of each policy, of new keys, of denials, in busy seconds', async () => {
  const limiter = createLimiter({
    policies: { p: { limit: 2, window: '1h' }, q: { limit: 1, window: '1h', shadow: true } },
    metrics: { topKeys: 5 },
  });
  const kinds = asyncResourcesOf(() => {
    for (let i = 0; i < 3000; i++) limiter.tryConsume({ p: `k${i % 20}`, q: `k${i % 20}` });
  });
  expect(kinds).toEqual([]);
  expect(limiter.top().map(({ denied }) => denied.length)).toEqual([5, 5]);
  await limiter.close();
});

import { PATIENT, STORE_KINDS } from '@rl/adapter-suite';
import { Hono } from 'hono';
import { rateLimiter } from 'hono-rate-limiter';
import { describe, expect, test } from 'vitest';
import { toExpressRateLimitStore } from '../src/index.js';
import { useFrozenTime } from './support/frozen-time.js';

interface Terms {
  readonly skipFailedRequests?: boolean;
  readonly skipSuccessfulRequests?: boolean;
}

/** It says of a request that it denies that it was successful, and takes that back. */
describe.each(STORE_KINDS)('toExpressRateLimitStore for hono-rate-limiter, %s', (kind) => {
  const time = useFrozenTime(kind);

  test.each<[Terms, string]>([
    [{}, '200 200 500 429 429 429 429 200'],
    [{ skipFailedRequests: true }, '200 200 500 500 200 429 429 200'],
    [{ skipSuccessfulRequests: true }, '200 200 500 500 200 500 429 200'],
  ])('%j: as by its own store', async (terms, expected) => {
    const all = { windowMs: 60_000, limit: 3, keyGenerator: () => 'ann', ...terms };
    const store = toExpressRateLimitStore({ store: time.store(), fallback: PATIENT });
    const apps = [{ ...all, store }, all].map((options) => {
      const app = new Hono();
      app.use(rateLimiter(options));
      app.get('/', (c) => c.text('handled'));
      app.get('/500', (c) => c.text('failed', 500));
      return app;
    });
    const seen: string[][] = [[], []];
    for (const path of ['/', '/', '/500', '/500', '/', '/500', '/', 'wait', '/']) {
      if (path === 'wait') time.advance(60_000);
      else {
        for (const [i, app] of apps.entries()) {
          const { status, headers } = await app.request(path);
          seen[i]?.push(`${status} ${JSON.stringify([...headers])}`);
        }
      }
    }
    expect(seen[0]).toEqual(seen[1]);
    expect(seen[0]?.map((one) => one.slice(0, 3)).join(' ')).toBe(expected);
  });
});

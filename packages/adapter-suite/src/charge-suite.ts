import { createLimiter, memoryStore } from '@rl/core';
import { ManualClock } from '@rl/core/testing';
import { describe, expect, test, vi } from 'vitest';
import { ask, askInTurn } from './client.js';
import { expectAllHandled } from './expect-all-handled.js';
import { parseField } from './fields.js';
import type { AnyOptions, AnyRequest, Framework } from './framework.js';
import { useApp } from './use-app.js';

const PREFLIGHT = {
  method: 'OPTIONS',
  headers: { origin: 'https://a.example', 'access-control-request-method': 'GET' },
};

/** Which requests are charged, and that each is charged once. */
export function describeCharges(framework: Framework): void {
  describe('what is charged', () => {
    const start = useApp(framework);
    expectAllHandled();

    const three = (options: object = {}): AnyOptions =>
      ({
        store: memoryStore({ clock: new ManualClock() }),
        limit: 3,
        window: '60s',
        ...options,
      }) as AnyOptions;

    test('F-06 preflights are not charged, HEAD is', async () => {
      const app = await start({ limiters: [three()] });
      for (let i = 0; i < 3; i++) {
        const preflight = await ask(app, PREFLIGHT);
        expect(preflight.status).toBe(200);
        expect(preflight.headers).not.toHaveProperty('ratelimit');
        expect((await ask(app)).status).toBe(200);
      }
      expect(await ask(app, { method: 'HEAD' })).toMatchObject({ status: 429, body: '' });
      expect((await ask(app, { method: 'OPTIONS' })).status).toBe(429);
      expect((await ask(app, PREFLIGHT)).status).toBe(200);
    });

    test('F-06 preflights are charged where the app wants it', async () => {
      const app = await start({ limiters: [three({ preflight: 'charge' })] });
      expect(await askInTurn(app, 4, PREFLIGHT)).toEqual([200, 200, 200, 429]);
    });

    test('F-06 only the methods that are named are charged', async () => {
      const app = await start({ limiters: [three({ methods: ['POST'] })] });
      expect(await askInTurn(app, 4)).toEqual([200, 200, 200, 200]);
      expect(await askInTurn(app, 4, { method: 'POST' })).toEqual([200, 200, 200, 429]);
    });

    test.each([
      ['at once', (request: AnyRequest) => request.headers['x-skip'] === 'yes'],
      ['later', async (request: AnyRequest) => request.headers['x-skip'] === 'yes'],
    ])('what is skipped passes without a word, known %s', async (_, skip) => {
      const app = await start({ limiters: [three({ limit: 1, skip })] });
      const skipped = { headers: { 'x-skip': 'yes' } };
      expect(await askInTurn(app, 3, skipped)).toEqual([200, 200, 200]);
      expect((await ask(app, skipped)).headers).not.toHaveProperty('ratelimit');
      expect(await askInTurn(app, 2)).toEqual([200, 429]);
    });

    test.each<[string, () => unknown]>([
      [
        'throws',
        () => {
          throw new Error('no flags');
        },
      ],
      ['rejects', () => Promise.reject(new Error('no flags'))],
      ['forgets to return', () => undefined],
      ['forgets to resolve', async () => undefined],
    ])('a skip that %s is an error, no bypass', async (_, skip) => {
      const onError = vi.fn();
      const onHandled = vi.fn();
      const app = await start({ limiters: [three({ skip })], onError, onHandled });
      expect((await ask(app)).status).toBe(500);
      expect(onError).toHaveBeenCalledTimes(1);
      expect(onHandled).not.toHaveBeenCalled();
    });

    test('F-05 a global limit beside that of a route: each request is charged once to each', async () => {
      const app = await start({
        limiters: [three({ name: 'all', limit: 6 })],
        routes: [{ method: 'GET', path: '/x', limiter: three({ name: 'route' }) }],
      });
      const last = (await Promise.all([ask(app, { path: '/x' })]))[0];
      expect(last?.status).toBe(200);
      await ask(app, { path: '/x' });
      const third = await ask(app, { path: '/x' });
      expect(parseField(third, 'RateLimit')).toMatchObject([
        { name: 'all', parameters: { r: 3 } },
        { name: 'route', parameters: { r: 0 } },
      ]);
      expect((await ask(app, { path: '/x' })).status).toBe(429);
      // What the route denied was charged to the global limit all the same.
      expect(await askInTurn(app, 3)).toEqual([200, 200, 429]);
    });

    test('F-05 four policies: each has its own count', async () => {
      const limiter = createLimiter({
        store: memoryStore({ clock: new ManualClock() }),
        policies: {
          minute: { limit: 20, window: '1m' },
          ten: { limit: 200, window: '10m' },
          hour: { limit: 1200, window: '1h' },
          day: { limit: 5000, window: '1d' },
        },
      });
      const keys = () => ({ minute: 'ann', ten: 'ann', hour: 'ann', day: 'ann' });
      const app = await start({ limiters: [{ limiter, keys }] });
      await askInTurn(app, 4);
      const left = parseField(await ask(app), 'RateLimit').map((member) => member.parameters.r);
      expect(left).toEqual([15, 195, 1195, 4995]);
      await limiter.close();
    });
  });
}

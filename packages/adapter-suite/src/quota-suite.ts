import { createLimiter } from '@rl/core';
import { describe, expect, test, vi } from 'vitest';
import { ask, askAtOnce, askInTurn } from './client.js';
import { countLines, parseField } from './fields.js';
import type { AnyRequest, Framework } from './framework.js';
import { PATIENT } from './patient.js';
import { STORE_KINDS, useStores } from './stores.js';
import { useApp } from './use-app.js';

const header =
  (name: string) =>
  (request: AnyRequest): string =>
    String(request.headers[name]);

/** What clients see of a quota, the same on every store. */
export function describeQuota(framework: Framework): void {
  describe.each(STORE_KINDS)('a quota in a %s store', (kind) => {
    const stores = useStores(kind);
    const start = useApp(framework);

    test('H-01 five per minute: the sixth waits whole seconds, as its Retry-After says', async () => {
      const { store, clock } = stores.frozen();
      const onHandled = vi.fn();
      const app = await start({ limiters: [{ store, limit: 5, window: '60s' }], onHandled });
      for (const left of [4, 3, 2, 1, 0]) {
        const answer = await ask(app);
        expect(answer).toMatchObject({ status: 200, body: 'ok' });
        expect(answer.headers).not.toHaveProperty('retry-after');
        expect(parseField(answer, 'RateLimit-Policy')).toEqual([
          { name: 'default', parameters: { q: 5, w: 60 } },
        ]);
        expect(parseField(answer, 'RateLimit')).toEqual([
          { name: 'default', parameters: { r: left, t: 12 } },
        ]);
      }
      const denied = await ask(app);
      expect(denied.status).toBe(429);
      expect(denied.headers['retry-after']).toBe('12');
      expect(parseField(denied, 'RateLimit')).toEqual([
        { name: 'default', parameters: { r: 0, t: 12 } },
      ]);
      clock.advance(11_999);
      expect((await ask(app)).headers['retry-after']).toBe('1');
      clock.advance(1);
      expect((await ask(app)).status).toBe(200);
      expect(onHandled).toHaveBeenCalledTimes(6);
    });

    test('a denial is a problem document that no cache keeps, and nothing after it runs', async () => {
      const { store } = stores.frozen();
      const onHandled = vi.fn();
      const app = await start({
        limiters: [{ store, name: 'tenant', limit: 1, window: '60s' }],
        onHandled,
      });
      await ask(app);
      const denied = await ask(app, { method: 'POST' });
      expect(denied.status).toBe(429);
      expect(denied.headers['content-type']).toBe('application/problem+json');
      expect(denied.headers['cache-control']).toBe('no-store');
      // H-07: what was set before the limiter stays.
      expect(denied.headers['access-control-allow-origin']).toBe('*');
      expect(denied.headers['content-length']).toBe(String(denied.body.length));
      expect(JSON.parse(denied.body)).toEqual({
        type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
        title: 'Quota Exceeded',
        status: 429,
        detail: 'The quota is 1 per 1m. Try again in 60 s.',
        'violated-policies': ['tenant'],
      });
      expect(onHandled).toHaveBeenCalledTimes(1);
    });

    test('F-06 HEAD is charged like any other request and denied without a body', async () => {
      const { store } = stores.frozen();
      const app = await start({ limiters: [{ store, limit: 1, window: '60s' }] });
      expect(await ask(app, { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
      const denied = await ask(app, { method: 'HEAD' });
      expect(denied).toMatchObject({ status: 429, body: '' });
      expect(denied.headers).toMatchObject({
        'content-type': 'application/problem+json',
        'retry-after': '60',
      });
    });

    test('C-01 a limit of 0 denies always and promises nothing', async () => {
      const { store, clock } = stores.frozen();
      const app = await start({ limiters: [{ store, limit: 0, window: '60s' }] });
      for (let i = 0; i < 3; i++) {
        const denied = await ask(app);
        expect(denied.status).toBe(429);
        expect(denied.headers).not.toHaveProperty('retry-after');
        expect(parseField(denied, 'RateLimit-Policy')).toEqual([
          { name: 'default', parameters: { q: 0, w: 60 } },
        ]);
        expect(parseField(denied, 'RateLimit')).toEqual([
          { name: 'default', parameters: { r: 0 } },
        ]);
        expect([...denied.rawHeaders, denied.body].join()).not.toMatch(/NaN|Infinity|undefined/);
        clock.advance(60_000);
      }
    });

    test('a request costs what the function of it says, at once or later', async () => {
      const { store } = stores.frozen();
      const cost = (request: AnyRequest): number | Promise<number> => {
        const price = Number(request.headers['x-cost']);
        return request.headers['x-later'] ? Promise.resolve(price) : price;
      };
      const app = await start({ limiters: [{ store, limit: 10, window: '10s', cost }] });
      const spend = async (price: number, later?: boolean): Promise<unknown[]> => {
        const headers = { 'x-cost': price, ...(later && { 'x-later': 'yes' }) };
        const answer = await ask(app, { headers });
        const [member] = parseField(answer, 'RateLimit');
        return [answer.status, member?.parameters.r, answer.headers['retry-after']];
      };
      expect(await spend(4)).toEqual([200, 6, undefined]);
      expect(await spend(3, true)).toEqual([200, 3, undefined]);
      expect(await spend(5)).toEqual([429, 3, '2']);
      expect(await spend(0)).toEqual([200, 3, undefined]);
      expect(await spend(11, true)).toEqual([429, 3, undefined]);
      expect(await spend(3)).toEqual([200, 0, undefined]);
    });

    test.each([
      ['at once', header('x-api-key')],
      ['later', async (request: AnyRequest) => header('x-api-key')(request)],
    ])('each key has a bucket of its own, where the key is known %s', async (_, key) => {
      const { store } = stores.frozen();
      const app = await start({ limiters: [{ store, limit: 1, window: '60s', key }] });
      const statuses: number[] = [];
      for (const name of ['ann', 'bob', 'ann', 'bob', 'cy']) {
        statuses.push((await ask(app, { headers: { 'x-api-key': name } })).status);
      }
      expect(statuses).toEqual([200, 200, 429, 429, 200]);
    });

    test('a limiter with several policies: the keys say which one', async () => {
      const { store } = stores.frozen();
      const limiter = createLimiter({
        store,
        fallback: PATIENT,
        policies: { free: { limit: 1, window: '60s' }, paid: { limit: 2, window: '60s' } },
      });
      const keys = (request: AnyRequest): { [policy: string]: string } => ({
        [header('x-tier')(request)]: 'ann',
      });
      const app = await start({ limiters: [{ limiter, keys }] });
      expect(await askInTurn(app, 2, { headers: { 'x-tier': 'free' } })).toEqual([200, 429]);
      expect(await askInTurn(app, 3, { headers: { 'x-tier': 'paid' } })).toEqual([200, 200, 429]);
      const denied = await ask(app, { headers: { 'x-tier': 'paid' } });
      expect(parseField(denied, 'RateLimit')).toMatchObject([{ name: 'paid' }]);
      expect(JSON.parse(denied.body)).toMatchObject({ 'violated-policies': ['paid'] });
    });

    test('H-09 limiters one after the other append to the same fields', async () => {
      const { store } = stores.frozen();
      const onHandled = vi.fn();
      const app = await start({
        limiters: [
          { store, name: 'day', limit: 100, window: '1d' },
          { store, name: 'burst', limit: 2, window: '10s' },
        ],
        onHandled,
      });
      await ask(app);
      const allowed = await ask(app);
      const denied = await ask(app);
      expect([allowed.status, denied.status]).toEqual([200, 429]);
      for (const [answer, left] of [
        [allowed, { day: 98, burst: 0 }],
        [denied, { day: 97, burst: 0 }],
      ] as const) {
        expect(answer.headers['ratelimit-policy']).toBe('"day";q=100;w=86400, "burst";q=2;w=10');
        expect(countLines(answer, 'RateLimit-Policy')).toBe(1);
        expect(countLines(answer, 'RateLimit')).toBe(1);
        const members = parseField(answer, 'RateLimit');
        expect(Object.fromEntries(members.map((m) => [m.name, m.parameters.r]))).toEqual(left);
      }
      expect(JSON.parse(denied.body)).toMatchObject({ 'violated-policies': ['burst'] });
      expect(onHandled).toHaveBeenCalledTimes(2);
    });

    test('200 requests at once on one key with a limit of 100: exactly 100 pass', async () => {
      const app = await start({ limiters: [{ store: stores.real(), limit: 100, window: '1h' }] });
      expect(await askAtOnce(app, 200)).toEqual({ 200: 100, 429: 100 });
    });
  });
}

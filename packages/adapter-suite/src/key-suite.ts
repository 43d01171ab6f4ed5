import { addressKey, combineKeys } from '@rl/core';
import { describe, expect, test } from 'vitest';
import { ask, askMany } from './client.js';
import { type AnyRequest, type Framework, has } from './framework.js';
import { STORE_KINDS, type StoreMaker, useStores } from './stores.js';
import { useApp } from './use-app.js';

/** What a key function may give where the request does not have what it asks for. */
const MISSING: readonly [shown: string, key: () => unknown][] = [
  ['undefined', () => undefined],
  ['null', () => null],
  ['an empty text', () => ''],
  ['an empty text, later', async () => ''],
  ['NaN', () => Number.NaN],
  ['an object', () => ({ id: 't42' })],
];

/** Keys of the app, and what becomes of requests without one. */
export function describeKeys(framework: Framework): void {
  describe.each(STORE_KINDS)('keys, in a %s store', (kind) => {
    const stores = useStores(kind);
    const start = useApp(framework);

    if (has(framework, 'routes')) describeEndpoints(framework, stores, start);

    test.each(MISSING)('K-11 a key that is %s: each address is limited', async (_, key) => {
      const { store, countBuckets } = stores.frozen();
      const limiters = [{ store, limit: 1, window: '60s', key: key as () => string }];
      const app = await start({ limiters, trust: 'one' });
      for (const address of ['192.0.2.1', '192.0.2.2']) {
        const headers = { 'x-forwarded-for': address };
        const statuses = [];
        for (let i = 0; i < 3; i++) statuses.push((await ask(app, { headers })).status);
        expect(statuses).toEqual([200, 429, 429]);
      }
      expect(await countBuckets()).toBe(2);
    });

    test('K-11 missingKey deny: 429 at once, without a wait, and nothing is stored', async () => {
      const { store, countBuckets } = stores.frozen();
      const key = () => undefined;
      const limiters = [{ store, limit: 1, window: '60s', key, missingKey: 'deny' } as const];
      const denied = await ask(await start({ limiters }));
      expect(denied.status).toBe(429);
      expect(denied.headers).toMatchObject({ 'content-type': 'application/problem+json' });
      for (const name of ['retry-after', 'ratelimit', 'ratelimit-policy']) {
        expect(denied.headers).not.toHaveProperty(name);
      }
      expect(JSON.parse(denied.body)).toMatchObject({ status: 429 });
      expect(await countBuckets()).toBe(0);
    });

    test.each([
      ['at once', () => undefined],
      ['later', async () => undefined],
    ])('K-11 missingKey skip: the request passes, known %s', async (_, key) => {
      const { store, countBuckets } = stores.frozen();
      const limiters = [{ store, limit: 1, window: '60s', key, missingKey: 'skip' } as const];
      const app = await start({ limiters });
      for (let i = 0; i < 2; i++) {
        const answer = await ask(app);
        expect(answer).toMatchObject({ status: 200, body: 'ok' });
        expect(answer.headers).not.toHaveProperty('ratelimit');
      }
      expect(await countBuckets()).toBe(0);
    });
  });
}

/** Keys that name the route. */
function describeEndpoints(
  framework: Framework,
  stores: StoreMaker,
  start: ReturnType<typeof useApp>,
): void {
  /** A key of the endpoint and the client, who is named by a header here. */
  const endpointAndClient = (request: AnyRequest): string =>
    combineKeys(
      framework.endpointOf?.(request) ?? 'no route',
      addressKey(String(request.headers['x-client'])) ?? 'no address',
    );

  test('K-09 all spellings of a path that reach a route are one endpoint', async () => {
    const { store, countBuckets } = stores.frozen();
    const limiter = { store, limit: 3, window: '60s', key: endpointAndClient };
    const routes = [{ method: 'POST', path: '/lang', limiter } as const];
    const app = await start({ limiters: [], routes });
    const statuses: number[] = [];
    for (const path of ['/lang', '/LANG', '/lang/', '//lang', '/%6Cang']) {
      for (let i = 0; i < 2; i++) {
        const headers = { 'x-client': '192.0.2.1' };
        statuses.push((await ask(app, { method: 'POST', path, headers })).status);
      }
    }
    const matched = statuses.filter((status) => status !== 404);
    expect(statuses.slice(0, 2)).toEqual([200, 200]);
    expect(matched).toEqual(matched.map((_, i) => (i < 3 ? 200 : 429)));
    expect(await countBuckets()).toBe(1);
  });

  test('K-10 what a client writes into a path makes no endpoint of its own', async () => {
    const { store, countBuckets } = stores.frozen();
    const limiter = { store, limit: 5, window: '60s', key: endpointAndClient };
    const routes = [{ method: 'GET', path: '/verify/:code', limiter } as const];
    const app = await start({ limiters: [], routes });
    const guesses = (client: string) =>
      Array.from({ length: 100 }, (_, i) => ({
        path: `/verify/${String(i + 1).padStart(6, '0')}`,
        headers: { 'x-client': client },
      }));
    expect(await askMany(app, guesses('192.0.2.1'))).toEqual({ 200: 5, 429: 95 });
    expect(await countBuckets()).toBe(1);
    expect(await askMany(app, guesses('192.0.2.2'))).toEqual({ 200: 5, 429: 95 });
  });
}

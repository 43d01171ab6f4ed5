import { createLimiter } from '@rl/core';
import { describe, expect, test } from 'vitest';
import { type Answer, ask, askInTurn } from './client.js';
import { parseField } from './fields.js';
import type { Framework } from './framework.js';
import { PATIENT } from './patient.js';
import { STORE_KINDS, useStores } from './stores.js';
import { useApp } from './use-app.js';

/** What is left under each policy, by the RateLimit field. */
function left(answer: Answer): Record<string, unknown> {
  const members = parseField(answer, 'RateLimit');
  return Object.fromEntries(members.map(({ name, parameters }) => [name, parameters.r]));
}

/** Policies that differ by request, several of them on one request, and what clients are told. */
export function describePolicies(framework: Framework): void {
  describe.each(STORE_KINDS)('policies, in a %s store', (kind) => {
    const stores = useStores(kind);
    const start = useApp(framework);

    test('H-03 a log tells when its oldest call leaves', async () => {
      const { store, clock } = stores.frozen();
      const limiter = { store, algorithm: 'sliding-log', limit: 2, window: '60s' } as const;
      const app = await start({ limiters: [limiter] });
      expect(await askInTurn(app, 1)).toEqual([200]);
      clock.advance(10_000);
      expect(await askInTurn(app, 1)).toEqual([200]);
      clock.advance(10_000);
      const denied = await ask(app);
      expect([denied.status, denied.headers['retry-after']]).toEqual([429, '40']);
      clock.advance(40_001);
      expect(await askInTurn(app, 1)).toEqual([200]);
    });

    test('C-08 a limit that falls while it is in use: the wait is until enough has left', async () => {
      const { store, clock } = stores.frozen();
      let limit = 10;
      const limiter = {
        store,
        algorithm: 'sliding-log',
        limit: () => limit,
        window: '60s',
      } as const;
      const app = await start({ limiters: [limiter] });
      for (let i = 0; i < 10; i++) {
        const allowed = await ask(app);
        expect(allowed.status).toBe(200);
        expect(allowed.headers['ratelimit-policy']).toBe('"default";q=10;w=60');
        clock.advance(1000);
      }
      limit = 4;
      const denied = await ask(app);
      expect(denied.status).toBe(429);
      expect(denied.headers).toMatchObject({
        'ratelimit-policy': '"default";q=4;w=60',
        ratelimit: '"default";r=0;t=56',
        'retry-after': '56',
      });
      clock.advance(56_001);
      expect(await askInTurn(app, 1)).toEqual([200]);
    });

    test('C-08 other algorithms go on at the new rate', async () => {
      const { store, clock } = stores.frozen();
      let limit = 60;
      const app = await start({ limiters: [{ store, limit: () => limit, window: '60s' }] });
      expect(await askInTurn(app, 1)).toEqual([200]);
      limit = 6;
      const spent = await askInTurn(app, 6);
      expect(spent.slice(0, 5)).toEqual([200, 200, 200, 200, 200]);
      expect((await ask(app)).headers['retry-after']).toBe('10');
      clock.advance(10_000);
      expect(await askInTurn(app, 2)).toEqual([200, 429]);
    });

    test('H-09 two policies on one request: both are told of by name', async () => {
      const { store } = stores.frozen();
      const limiter = createLimiter({
        store,
        fallback: PATIENT,
        policies: {
          quarter: { limit: 15, window: '15m' },
          day: { limit: 100, window: '1d' },
        },
      });
      const keys = () => ({ quarter: 'ann', day: 'ann' });
      const app = await start({ limiters: [{ limiter, keys }] });
      expect(await askInTurn(app, 2)).toEqual([200, 200]);
      const allowed = await ask(app);
      expect(allowed.headers['ratelimit-policy']).toBe('"quarter";q=15;w=900, "day";q=100;w=86400');
      expect(left(allowed)).toEqual({ quarter: 12, day: 97 });
      await askInTurn(app, 12);
      const denied = await ask(app);
      expect([denied.status, denied.headers['retry-after']]).toEqual([429, '60']);
      // What was denied is charged to neither.
      expect(left(denied)).toEqual({ quarter: 0, day: 85 });
      expect(JSON.parse(denied.body)).toMatchObject({ 'violated-policies': ['quarter'] });
    });

    test('H-09 where both deny, the longer wait is told', async () => {
      const { store } = stores.frozen();
      const limiter = createLimiter({
        store,
        fallback: PATIENT,
        policies: { burst: { limit: 2, window: '10s' }, day: { limit: 2, window: '1d' } },
      });
      const keys = async () => ({ burst: 'ann', day: 'ann' });
      const app = await start({ limiters: [{ limiter, keys }] });
      expect(await askInTurn(app, 2)).toEqual([200, 200]);
      const denied = await ask(app);
      expect([denied.status, denied.headers['retry-after']]).toEqual([429, '43200']);
      expect(JSON.parse(denied.body)).toMatchObject({ 'violated-policies': ['burst', 'day'] });
      const waits = parseField(denied, 'RateLimit').map(({ parameters }) => parameters.t);
      expect(waits).toEqual([5, 43_200]);
    });
  });
}

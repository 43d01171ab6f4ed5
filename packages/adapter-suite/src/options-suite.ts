import { createLimiter, memoryStore } from '@rl/core';
import { describe, expect, test, vi } from 'vitest';
import { ask } from './client.js';
import type { AnyOptions, Framework } from './framework.js';
import { useApp } from './use-app.js';

const GOOD = { limit: 5, window: '60s' };

const OF_THE_APP = createLimiter({ policies: { a: GOOD } });

/** Options that cannot be used: the field that is at fault, and its value as errors show it. */
const REFUSED: readonly [field: string, shown: string, options: object][] = [
  ['limit', 'undefined', { window: '60s' }],
  ['limit', '-1', { ...GOOD, limit: -1 }],
  ['limit', '1.7', { ...GOOD, limit: 1.7 }],
  ['limit', 'NaN', { ...GOOD, limit: Number.NaN }],
  ['limit', 'Infinity', { ...GOOD, limit: Number.POSITIVE_INFINITY }],
  ['limit', '"10"', { ...GOOD, limit: '10' }],
  ['window', 'undefined', { limit: 5 }],
  ['window', '0', { ...GOOD, window: 0 }],
  ['window', '"5x"', { ...GOOD, window: '5x' }],
  ['burst', '0', { ...GOOD, burst: 0 }],
  ['algorithm', '"magic"', { ...GOOD, algorithm: 'magic' }],
  ['name', '"per \\"user\\""', { ...GOOD, name: 'per "user"' }],
  ['name', '"日本"', { ...GOOD, name: '日本' }],
  ['cost', '1.5', { ...GOOD, cost: 1.5 }],
  ['enabled', '"no"', { ...GOOD, enabled: 'no' }],
  ['key', '"ip"', { ...GOOD, key: 'ip' }],
  ['missingKey', '"pass"', { ...GOOD, key: () => 'k', missingKey: 'pass' }],
  ['missingKey', '"deny"', { ...GOOD, missingKey: 'deny' }],
  ['noAddress', '"pass"', { ...GOOD, noAddress: 'pass' }],
  ['ipv6Prefix', '16', { ...GOOD, ipv6Prefix: 16 }],
  ['policies', 'an object', { ...GOOD, policies: {} }],
  ['store', '"redis"', { ...GOOD, store: 'redis' }],
  ['lease', '"yes"', { ...GOOD, lease: 'yes' }],
  ['lease.ttl', '0', { ...GOOD, lease: { ttl: 0 } }],
  ['fallback', '"ajar"', { ...GOOD, fallback: 'ajar' }],
  ['fallback.mode', '"ajar"', { ...GOOD, fallback: { mode: 'ajar' } }],
  ['fallback.deadline', '"2m"', { ...GOOD, fallback: { deadline: '2m' } }],
  ['fallback.replicas', '0', { ...GOOD, fallback: { replicas: 0 } }],
  ['fallback.onEvent', '"log"', { ...GOOD, fallback: { onEvent: 'log' } }],
  ['headers', '"draft-5"', { ...GOOD, headers: 'draft-5' }],
  ['headers', '"draft-11, draft-7"', { ...GOOD, headers: ['draft-11', 'draft-7'] }],
  ['headers', 'an array', { ...GOOD, headers: [] }],
  ['headers.formats', 'true', { ...GOOD, headers: { formats: true } }],
  ['headers.policies', '"all"', { ...GOOD, headers: { policies: 'all' } }],
  ['headers.partitionKeySecret', '""', { ...GOOD, headers: { partitionKeySecret: '' } }],
  ['headers.expose', '"yes"', { ...GOOD, headers: { expose: 'yes' } }],
  ['headers.format', 'not an option', { ...GOOD, headers: { format: 'none' } }],
  ['body', '"html"', { ...GOOD, body: 'html' }],
  ['body', 'an object', { ...GOOD, body: { error: 'x' } }],
  ['retryJitter', '"soon"', { ...GOOD, retryJitter: 'soon' }],
  ['retryJitter', '-1', { ...GOOD, retryJitter: -1 }],
  ['onDenied', '"log"', { ...GOOD, onDenied: 'log' }],
  ['skip', 'true', { ...GOOD, skip: true }],
  ['methods', '"get"', { ...GOOD, methods: ['get'] }],
  ['methods', 'an array', { ...GOOD, methods: [] }],
  ['preflight', '"pass"', { ...GOOD, preflight: 'pass' }],
  ['refundWhen', '"always"', { ...GOOD, refundWhen: 'always' }],
  ['settle', '5', { ...GOOD, settle: 5 }],
  ['name', '"naïve"', { ...GOOD, name: 'naïve' }],
  ['name', '"a\\nb"', { ...GOOD, name: 'a\nb' }],
  ['max', 'not an option', { ...GOOD, max: 5 }],
  ['limiter', 'an object', { limiter: {}, keys: () => ({}) }],
  ['keys', 'undefined', { limiter: OF_THE_APP }],
  ['lease', 'not an option', { limiter: OF_THE_APP, keys: () => ({}), lease: true }],
  ['fallback', 'not an option', { limiter: OF_THE_APP, keys: () => ({}), fallback: 'open' }],
];

/** Options, as every adapter takes and refuses them. */
export function describeOptions(framework: Framework): void {
  describe('options', () => {
    const start = useApp(framework);

    test.each(REFUSED)('C-02 %s %s is refused before the first request', async (...row) => {
      const [field, shown, options] = row;
      const refused = await start({ limiters: [options as AnyOptions] }).catch((error) => error);
      expect(refused).toBeInstanceOf(Error);
      // By the name that the app wrote.
      expect(refused.message).toMatch(new RegExp(`^${field.replace('.', '\\.')} (must be|is not)`));
      expect(refused.message).toContain(shown);
    });

    test('C-01 enabled: false makes no check, no headers and no store call', async () => {
      const called = vi.fn();
      // A clock and a time to wait are values, not methods.
      const values: readonly (string | symbol)[] = ['clock', 'waitMs'];
      const store = new Proxy(memoryStore(), {
        get: (_, name) => (values.includes(name) ? undefined : () => called(name)),
      });
      const key = vi.fn();
      const app = await start({
        limiters: [{ limit: 0, window: '60s', enabled: false, store, key }],
      });
      const answer = await ask(app);
      expect(answer).toMatchObject({ status: 200, body: 'ok' });
      for (const name of ['ratelimit', 'ratelimit-policy', 'retry-after']) {
        expect(answer.headers).not.toHaveProperty(name);
      }
      expect(called).not.toHaveBeenCalled();
      expect(key).not.toHaveBeenCalled();
    });

    test('a decision that can be had at once holds nobody up: no promise is waited for', async () => {
      let waited = false;
      const waitedWhenHandled: boolean[] = [];
      const app = await start({
        limiters: [{ ...GOOD }, { ...GOOD }],
        onArrival: () => {
          waited = false;
          queueMicrotask(() => {
            waited = true;
          });
        },
        onHandled: () => void waitedWhenHandled.push(waited),
      });
      await ask(app);
      await ask(app);
      expect(waitedWhenHandled).toEqual([false, false]);
    });
  });
}

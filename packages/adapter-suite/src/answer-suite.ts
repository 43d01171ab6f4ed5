import { createLimiter, memoryStore } from '@rl/core';
import { content } from '@rl/core/http';
import { ManualClock } from '@rl/core/testing';
import { describe, expect, test, vi } from 'vitest';
import { type Answer, ask, askInTurn } from './client.js';
import { expectAllHandled } from './expect-all-handled.js';
import { countLines } from './fields.js';
import type { AnyOptions, Framework } from './framework.js';
import { useApp } from './use-app.js';
import { useWarnings } from './use-warnings.js';

/** Two a minute, on a clock that stands still. */
const two = (): AnyOptions => ({
  store: memoryStore({ clock: new ManualClock() }),
  limit: 2,
  window: '60s',
});

/** The headers of an answer that are about quotas, by what they are called on the wire. */
function quotaHeaders({ headers }: Answer): Record<string, unknown> {
  const isQuota = (name: string): boolean => /rate-?limit|retry-after/.test(name);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => isQuota(name)));
}

const POLICY = { 'ratelimit-policy': '"default";q=2;w=60' };
/** What a denied client is told. */
const TOLD: readonly [AnyOptions['headers'], Record<string, unknown>][] = [
  ['draft-11', { ...POLICY, ratelimit: '"default";r=0;t=30' }],
  ['draft-7', { 'ratelimit-policy': '2;w=60', ratelimit: 'limit=2, remaining=0, reset=60' }],
  [
    ['draft-11', 'draft-6', 'legacy-delta', (told) => ({ 'X-RateLimit-Used': told.length })],
    {
      ...POLICY,
      ratelimit: '"default";r=0;t=30',
      'ratelimit-limit': '2',
      'ratelimit-remaining': '0',
      'ratelimit-reset': '60',
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '60',
      'x-ratelimit-used': '1',
    },
  ],
  ['none', {}],
];

/** How clients are answered, as the app wants it. */
export function describeAnswers(framework: Framework): void {
  describe('answers', () => {
    const start = useApp(framework);
    const warnings = useWarnings();
    expectAllHandled();

    async function denied(options: Partial<AnyOptions>, plan: object = {}): Promise<Answer> {
      const limiter = { ...two(), ...options } as AnyOptions;
      const app = await start({ limiters: [limiter], ...plan });
      expect(await askInTurn(app, 2)).toEqual([200, 200]);
      return ask(app);
    }

    test.each(TOLD)('headers %o', async (headers, expected) => {
      const answer = await denied({ headers });
      expect(answer.status).toBe(429);
      expect(quotaHeaders(answer)).toEqual({ ...expected, 'retry-after': '30' });
    });

    test('H-09 of limiters one after the other the strictest is told, and each field once', async () => {
      const headers = ['draft-6', 'legacy-delta'] as const;
      const app = await start({
        limiters: [
          { ...two(), name: 'strict', headers },
          { ...two(), name: 'wide', limit: 100, window: '1h', headers },
        ] as AnyOptions[],
      });
      const answer = await ask(app);
      expect(quotaHeaders(answer)).toEqual({
        'ratelimit-policy': '2;w=60, 100;w=3600',
        'ratelimit-limit': '2',
        'ratelimit-remaining': '1',
        'ratelimit-reset': '30',
        'x-ratelimit-limit': '2',
        'x-ratelimit-remaining': '1',
        'x-ratelimit-reset': '30',
      });
      for (const name of Object.keys(quotaHeaders(answer)))
        expect(countLines(answer, name)).toBe(1);
    });

    test('H-07 expose names what is written, behind what the app exposes', async () => {
      const answer = await denied({ headers: { expose: true } });
      expect(answer.headers['access-control-expose-headers']).toBe(
        'RateLimit-Policy, RateLimit, Retry-After',
      );
      expect(answer.headers['access-control-allow-origin']).toBe('*');
    });

    const QUOTA = 'The quota is 2 per 1m. Try again in 30 s.';
    const BODIES: readonly [string, AnyOptions['body'], string, string][] = [
      ['text', 'text', 'text/plain; charset=utf-8', QUOTA],
      [
        'json',
        'json',
        'application/json; charset=utf-8',
        JSON.stringify({ statusCode: 429, error: 'Too Many Requests', message: QUOTA }),
      ],
      ['a text', () => 'später', 'text/plain; charset=utf-8', 'später'],
      ['nothing', () => '', 'text/plain; charset=utf-8', ''],
      [
        'H-06 an object',
        ({ retryAfterS }) => ({ error: 'x', retryAfterS }),
        'application/json; charset=utf-8',
        '{"error":"x","retryAfterS":30}',
      ],
      ['later', async () => ({ error: 'x' }), 'application/json; charset=utf-8', '{"error":"x"}'],
      [
        'a page',
        () => content('text/html; charset=utf-8', '<p>'),
        'text/html; charset=utf-8',
        '<p>',
      ],
      [
        'bytes',
        () => content('application/octet-stream', Uint8Array.of(65, 66)),
        'application/octet-stream',
        'AB',
      ],
    ];

    test.each(BODIES)('body %s', async (_, body, type, text) => {
      const answer = await denied({ body });
      expect(answer).toMatchObject({ status: 429, body: text });
      expect(answer.headers).toMatchObject({
        'content-type': type,
        'content-length': String(Buffer.byteLength(text)),
        'cache-control': 'no-store',
        'retry-after': '30',
        ratelimit: '"default";r=0;t=30',
      });
    });

    test.each([false, true])('H-05 body error, handled by the app: %s', async (handlesErrors) => {
      const onError = vi.fn();
      const onHandled = vi.fn();
      const headers = { formats: ['draft-11', 'legacy-delta'], expose: true } as const;
      const plan = { onError, onHandled, handlesErrors };
      const answer = await denied({ body: 'error', headers }, plan);
      expect(answer.status).toBe(429);
      if (handlesErrors) expect(answer.body).toBe('custom');
      expect(answer.headers).toMatchObject({
        'cache-control': 'no-store',
        'retry-after': '30',
        'ratelimit-policy': '"default";q=2;w=60',
        ratelimit: '"default";r=0;t=30',
        'x-ratelimit-remaining': '0',
        'access-control-expose-headers':
          'RateLimit-Policy, RateLimit, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After',
      });
      expect(onHandled).toHaveBeenCalledTimes(2);
      if (onError.mock.calls.length > 0) {
        expect(onError.mock.calls[0]?.[0]).toMatchObject({ status: 429, expose: true });
      }
    });

    test.each([
      [
        'throws',
        () => {
          throw new Error('no page');
        },
      ],
      ['rejects', () => Promise.reject(new Error('no page'))],
    ])('a body that %s goes to the error handling', async (_, body) => {
      const onError = vi.fn();
      expect((await denied({ body }, { onError })).status).toBe(500);
      expect(onError).toHaveBeenCalledTimes(1);
      expect(onError.mock.calls[0]?.[0]).toMatchObject({ message: 'no page' });
    });

    test('onDenied is told once, and its failure changes nothing', async () => {
      const onDenied = vi.fn(() => Promise.reject(new Error('no log')));
      const answer = await denied({ onDenied });
      expect(answer).toMatchObject({ status: 429, headers: { 'retry-after': '30' } });
      expect(onDenied).toHaveBeenCalledTimes(1);
      expect(onDenied).toHaveBeenCalledWith(
        expect.objectContaining({ status: 429, retryAfterS: 30, violatedPolicies: ['default'] }),
        expect.anything(),
      );
      expect(warnings()).toEqual(['RL_OBSERVER_FAILED']);
    });

    test('a header function is told all policies of the request, the strictest first', async () => {
      const limiter = createLimiter({
        policies: { day: { limit: 100, window: '1d' }, minute: { limit: 5, window: '60s' } },
      });
      const headers: AnyOptions['headers'] = (told) => ({
        'X-Left': told.map(({ policy, remaining }) => `${policy} ${remaining}`).join(', '),
      });
      const keys = () => ({ day: 'ann', minute: 'ann' });
      const answer = await ask(await start({ limiters: [{ limiter, keys, headers }] }));
      expect(answer.headers['x-left']).toBe('minute 4, day 99');
      await limiter.close();
    });
  });
}

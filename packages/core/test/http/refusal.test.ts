import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Decision, Denied } from '../../src/decision/decision.js';
import { Answer, type Refusal } from '../../src/http/answer.js';
import { content } from '../../src/http/body.js';
import { DeniedError } from '../../src/http/denied-error.js';
import type { AnswerOptions } from '../../src/http/options.js';
import { toldDenied } from './headers/told.js';
import { forgetWarnings } from './warnings.js';

let warnings: string[];
beforeEach(() => {
  forgetWarnings();
  warnings = [];
  const note = (text: string | Error, details?: unknown): void => {
    warnings.push(`${(details as { code: string }).code}: ${text}`);
  };
  vi.spyOn(process, 'emitWarning').mockImplementation(note as typeof process.emitWarning);
});
afterEach(() => void vi.restoreAllMocks());

const REQUEST = {};

function refuse(
  options: AnswerOptions<object>,
  retryAfterMs: number | undefined = 30_000,
  facts: Partial<Decision> = {},
): Refusal {
  const { decision } = toldDenied(retryAfterMs, facts);
  return new Answer(options).refuse(REQUEST, decision as Denied) as Refusal;
}

const headersOf = ({ headers }: Refusal): Record<string, string> => Object.fromEntries(headers);

describe('retryJitter', () => {
  const waitAt = (random: number, retryJitter: number | string, retryAfterMs = 30_000): string => {
    vi.spyOn(Math, 'random').mockReturnValue(random);
    return headersOf(refuse({ retryJitter }, retryAfterMs))['Retry-After'] as string;
  };

  it.each([
    [0, '10s', '30'],
    [0.5, '10s', '35'],
    [0.999_999_999, '10s', '40'],
    [0, 1, '30'],
    [0.999_999_999, 1, '31'],
    [0.999_999_999, 1000, '31'],
    [0.999_999_999, 1001, '32'],
  ])('with %d of %s it is %s s', (random, retryJitter, wait) => {
    expect(waitAt(random, retryJitter)).toBe(wait);
  });

  it('is never below the exact wait, and at least a second', () => {
    expect(waitAt(0, '10s', 30_001)).toBe('31');
    expect(waitAt(0, '10s', 1)).toBe('1');
    expect(waitAt(0.999_999_999, '10s', 1)).toBe('11');
  });

  it('without it nothing is left to chance', () => {
    const random = vi.spyOn(Math, 'random').mockReturnValue(0.9);
    expect(headersOf(refuse({}))['Retry-After']).toBe('30');
    expect(random).not.toHaveBeenCalled();
  });

  it('what can never fit has no wait, and neither has who names nobody', () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.9);
    const answer = new Answer<object>({ retryJitter: '10s' });
    const { decision } = toldDenied(undefined);
    for (const refusal of [
      answer.refuse(REQUEST, decision as Denied),
      answer.refuseUnnamed(REQUEST, 'p'),
    ]) {
      expect(headersOf(refusal as Refusal)).toEqual({
        'Content-Type': 'application/problem+json',
        'Cache-Control': 'no-store',
      });
    }
  });

  it.each([
    [0, 'retryJitter must be'],
    ['soon', 'retryJitter must be'],
    [null, 'retryJitter must be'],
  ])('%j is refused', (retryJitter, message) => {
    expect(() => new Answer({ retryJitter: retryJitter as number })).toThrow(message);
  });
});

describe('onDenied', () => {
  it('is told the denial and the request, once, before the answer is made', () => {
    const order: string[] = [];
    const onDenied = vi.fn((..._: unknown[]) => void order.push('told'));
    const body = () => {
      order.push('answered');
      return 'no';
    };
    refuse({ onDenied, body });
    expect(order).toEqual(['told', 'answered']);
    expect(onDenied).toHaveBeenCalledTimes(1);
    expect(onDenied.mock.calls[0]?.[0]).toMatchObject({ status: 429, retryAfterS: 30 });
    expect(onDenied.mock.calls[0]?.[1]).toBe(REQUEST);
    new Answer<object>({ onDenied }).refuseUnnamed(REQUEST, 'p');
    expect(onDenied.mock.calls[1]?.[0]).toMatchObject({ decision: undefined });
    expect(warnings).toEqual([]);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no log');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no log'))],
  ])('that it %s is a warning, and no more', async (_, onDenied) => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    expect(refuse({ onDenied })).toEqual(refuse({}));
    await turn();
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
    expect(warnings).toEqual([
      'RL_OBSERVER_FAILED: onDenied failed, which changes no answer: no log',
    ]);
  });

  it('is not waited for', () => {
    expect(refuse({ onDenied: () => new Promise(() => {}) })).toEqual(refuse({}));
  });

  it('is refused where it is no function', () => {
    const options = { onDenied: 'log' } as unknown as AnswerOptions<object>;
    const message = 'onDenied must be a function of a denial and the request, got "log"';
    expect(() => new Answer(options)).toThrow(message);
  });
});

describe('a body', () => {
  const CLOSED = { origin: 'fallback', fallback: { mode: 'closed', fault: 'timeout' } } as const;
  const NOW = 'Quotas cannot be checked right now. Try again in 1 s.';
  const JSON_TYPE = 'application/json; charset=utf-8';

  it.each<[string, AnswerOptions<object>['body'], string, string | Uint8Array]>([
    ['text', 'text', 'text/plain; charset=utf-8', NOW],
    [
      'json',
      'json',
      JSON_TYPE,
      JSON.stringify({ statusCode: 503, error: 'Service Unavailable', message: NOW }),
    ],
    ['a function of it', ({ status }) => ({ status }), JSON_TYPE, '{"status":503}'],
    ['bytes', () => content('a/b', Uint8Array.of(1)), 'a/b', Uint8Array.of(1)],
  ])('of a closed fallback is a 503: %s', (_, body, type, data) => {
    const refusal = refuse({ body }, 1000, CLOSED);
    expect(refusal).toMatchObject({ status: 503, body: data, error: undefined });
    expect(headersOf(refusal)).toEqual({
      'Content-Type': type,
      'Cache-Control': 'no-store',
      'Retry-After': '1',
    });
  });

  it('is a problem document where nothing else is said', () => {
    const refusal = refuse({}, 1000, CLOSED);
    expect(JSON.parse(refusal.body as string)).toMatchObject({ status: 503, detail: NOW });
    expect(refusal).toEqual(refuse({ body: 'problem' }, 1000, CLOSED));
  });

  it('as an error has its status, its denial, and no type', () => {
    for (const [facts, status] of [
      [{}, 429],
      [CLOSED, 503],
    ] as const) {
      const refusal = refuse({ body: 'error' }, 1000, facts);
      expect(refusal).toMatchObject({ status, body: '' });
      expect(refusal.error).toBeInstanceOf(DeniedError);
      expect(refusal.error).toMatchObject({ status, denial: { status, retryAfterS: 1 } });
      expect(headersOf(refusal)).toEqual({ 'Cache-Control': 'no-store', 'Retry-After': '1' });
    }
  });

  it('is told the denial and the request, and may come later or not at all', async () => {
    const body = vi.fn(async (..._: unknown[]) => 'later');
    expect(await refuse({ body })).toMatchObject({ body: 'later' });
    expect(body.mock.calls[0]?.[0]).toMatchObject({ retryAfterS: 30 });
    expect(body.mock.calls[0]?.[1]).toBe(REQUEST);
    const error = new Error('no page');
    await expect(refuse({ body: () => Promise.reject(error) })).rejects.toBe(error);
    const nothing = { body: async () => undefined } as unknown as AnswerOptions<object>;
    await expect(refuse(nothing)).rejects.toThrow('body must be a function that returns a text');
  });
});

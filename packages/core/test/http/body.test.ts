import { describe, expect, it } from 'vitest';
import {
  BODY_PRESETS,
  checkBody,
  content,
  presetBody,
  reasonOf,
  toContent,
} from '../../src/http/body.js';
import type { Denial } from '../../src/http/denial.js';

const DENIAL: Denial = {
  status: 429,
  type: 'https://example.org/quota',
  title: 'Quota Exceeded',
  detail: 'The quota is 5 per 1m.',
  violatedPolicies: ['a', 'b'],
  retryAfterS: 7,
  decision: undefined,
};
const CLOSED: Denial = { ...DENIAL, status: 503, title: 'Temporary Reduced Capacity' };

describe('presets', () => {
  it('problem is a problem document', () => {
    const { type, data } = presetBody('problem', DENIAL);
    expect(type).toBe('application/problem+json');
    expect(JSON.parse(data as string)).toEqual({
      type: 'https://example.org/quota',
      title: 'Quota Exceeded',
      status: 429,
      detail: 'The quota is 5 per 1m.',
      'violated-policies': ['a', 'b'],
    });
  });

  it('text is its sentence', () => {
    expect(presetBody('text', DENIAL)).toEqual({
      type: 'text/plain; charset=utf-8',
      data: 'The quota is 5 per 1m.',
    });
  });

  it.each([
    [DENIAL, { statusCode: 429, error: 'Too Many Requests', message: DENIAL.detail }],
    [CLOSED, { statusCode: 503, error: 'Service Unavailable', message: DENIAL.detail }],
  ])('json is as frameworks write errors', (denial, expected) => {
    const { type, data } = presetBody('json', denial);
    expect(type).toBe('application/json; charset=utf-8');
    expect(JSON.parse(data as string)).toEqual(expected);
  });

  it('the words of the status line', () => {
    expect([reasonOf(DENIAL), reasonOf(CLOSED)]).toEqual([
      'Too Many Requests',
      'Service Unavailable',
    ]);
  });
});

describe('content', () => {
  it.each(['<p>no</p>', Uint8Array.of(0, 255)])('is sent as it is: %o', (data) => {
    const made = content('text/html; charset=utf-8', data);
    expect(made).toMatchObject({ type: 'text/html; charset=utf-8', data });
    expect(toContent(made)).toBe(made);
    expect(Object.isFrozen(made)).toBe(true);
  });

  it.each<[unknown, unknown, string]>([
    ['', 'x', 'type must be a media type such as "text/html; charset=utf-8", got ""'],
    ['a\nb', 'x', 'type must be a media type such as "text/html; charset=utf-8", got "a\\nb"'],
    ['tëxt', 'x', 'type must be a media type'],
    [undefined, 'x', 'type must be a media type such as "text/html; charset=utf-8", got undefined'],
    ['text/html', undefined, 'data must be a text or bytes, got undefined'],
    ['text/html', { a: 1 }, 'data must be a text or bytes, got an object'],
  ])('%o %o is refused', (type, data, message) => {
    expect(() => content(type as string, data as string)).toThrow(message);
  });
});

describe('what a function gives', () => {
  it.each<[unknown, string, string]>([
    ['no', 'text/plain; charset=utf-8', 'no'],
    ['', 'text/plain; charset=utf-8', ''],
    [{ error: 'x' }, 'application/json; charset=utf-8', '{"error":"x"}'],
    [['x'], 'application/json; charset=utf-8', '["x"]'],
    // Only what `content` has made is content.
    [{ type: 'a', data: 'b' }, 'application/json; charset=utf-8', '{"type":"a","data":"b"}'],
  ])('%o', (given, type, data) => {
    expect(toContent(given)).toEqual({ type, data });
  });

  const expected = 'body must be a function that returns a text, an object, or bytes by content(';

  it.each<[unknown, string]>([
    [undefined, expected],
    [null, expected],
    [7, expected],
    [true, expected],
    [Buffer.from('no'), expected],
    [new Uint8Array(2), expected],
    [new DataView(new ArrayBuffer(1)), expected],
    [{ toJSON: () => undefined }, 'body must be what JSON can hold, got an object'],
    [{ id: 1n }, 'BigInt'],
  ])('%o is an error', (given, message) => {
    expect(() => toContent(given)).toThrow(message);
  });
});

describe('the option', () => {
  it.each(BODY_PRESETS)('takes %s', (preset) => {
    expect(checkBody(preset)).toBe(preset);
  });

  it('takes a function', () => {
    const body = () => 'no';
    expect(checkBody(body)).toBe(body);
  });

  it.each<[unknown, string]>([
    ['html', 'body must be one of "problem", "text", "json", "error", or a function, got "html"'],
    [null, 'body must be one of "problem", "text", "json", "error", or a function, got null'],
    [{ error: 'x' }, 'body must be one of "problem", "text", "json", "error", or a function'],
  ])('refuses %o', (option, message) => {
    expect(() => checkBody(option)).toThrow(message);
  });
});

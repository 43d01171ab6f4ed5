import { setImmediate as turn } from 'node:timers/promises';
import { parseDictionary, parseList } from 'structured-headers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Decision } from '../../../src/decision/decision.js';
import {
  HEADER_PRESETS,
  type HeaderFormats,
  type HeaderOptions,
  type HeaderPreset,
  parseHeaders,
} from '../../../src/http/headers/formats.js';
import { HeaderReport } from '../../../src/http/headers/report.js';
import { byName, told } from './told.js';

afterEach(() => void vi.restoreAllMocks());

/** What an allowed request under one policy is told. */
function seen(option: HeaderFormats | HeaderOptions | undefined): Record<string, string> {
  vi.spyOn(Date, 'now').mockReturnValue(1_700_000_000_000);
  const { append, replace } = new HeaderReport(parseHeaders(option)).headersOf({}, [told()]);
  return byName([...append, ...replace]);
}

const DRAFT_11 = { 'RateLimit-Policy': '"p";q=5;w=60', RateLimit: '"p";r=4;t=12' };
const FIELDS: { readonly [Preset in HeaderPreset]: Record<string, string> } = {
  'draft-11': DRAFT_11,
  'draft-8': DRAFT_11,
  'draft-7': { 'RateLimit-Policy': '5;w=60', RateLimit: 'limit=5, remaining=4, reset=12' },
  'draft-6': {
    'RateLimit-Policy': '5;w=60',
    'RateLimit-Limit': '5',
    'RateLimit-Remaining': '4',
    'RateLimit-Reset': '12',
  },
  'legacy-epoch': {
    'X-RateLimit-Limit': '5',
    'X-RateLimit-Remaining': '4',
    'X-RateLimit-Reset': '1700000012',
  },
  'legacy-delta': {
    'X-RateLimit-Limit': '5',
    'X-RateLimit-Remaining': '4',
    'X-RateLimit-Reset': '12',
  },
  'x-rate-limit': {
    'X-Rate-Limit-Limit': '5',
    'X-Rate-Limit-Remaining': '4',
    'X-Rate-Limit-Reset': '1700000012',
  },
  none: {},
};

describe('a preset alone', () => {
  it.each(HEADER_PRESETS)('%s', (preset) => {
    expect(seen(preset)).toEqual(FIELDS[preset]);
    expect(seen([preset])).toEqual(FIELDS[preset]);
    expect(seen({ formats: preset })).toEqual(FIELDS[preset]);
  });

  it('it is draft-11 where none is given', () => {
    expect(seen(undefined)).toEqual(DRAFT_11);
    expect(seen({})).toEqual(DRAFT_11);
  });
});

/** The fields that two presets both write, and would not write alike. */
function clash(a: HeaderPreset, b: HeaderPreset): string | undefined {
  if (a === 'none' || b === 'none') return '"none" alone';
  const shared = Object.keys(FIELDS[a]).filter((name) => name in FIELDS[b]);
  // Its list is left out where the other has one.
  const isDraft6 = (a === 'draft-6') !== (b === 'draft-6');
  return isDraft6 && shared.join() === 'RateLimit-Policy' ? undefined : shared[0];
}

const PAIRS = HEADER_PRESETS.flatMap((a) => HEADER_PRESETS.map((b) => [a, b] as const));

describe('two presets', () => {
  it.each(PAIRS.filter((pair) => clash(...pair) === undefined))(
    '%s and %s stand beside each other',
    (a, b) => {
      const [first, second] = a === 'draft-6' ? [a, b] : [b, a];
      expect(seen([a, b])).toEqual({ ...FIELDS[first], ...FIELDS[second] });
    },
  );

  it.each(PAIRS.filter((pair) => clash(...pair) !== undefined))(
    '%s and %s are refused by the field that both write',
    (a, b) => {
      const message =
        a === 'none' || b === 'none'
          ? `headers must be "none" alone, or without it, got "${a}, ${b}"`
          : `headers must be formats that do not both write ${clash(a, b)}, got "${a}, ${b}"`;
      expect(() => parseHeaders([a, b])).toThrow(message);
    },
  );

  it('as many as do not clash, and functions, stand beside each other', () => {
    const all = seen(['draft-11', 'draft-6', 'legacy-delta', 'x-rate-limit', () => ({ Mine: 1 })]);
    expect(all).toEqual({
      ...FIELDS['draft-6'],
      ...DRAFT_11,
      ...FIELDS['legacy-delta'],
      ...FIELDS['x-rate-limit'],
      Mine: '1',
    });
    expect(parseList(all['RateLimit-Policy'] as string)).toHaveLength(1);
  });

  it('draft-7 and draft-6 share a list', () => {
    const all = seen(['draft-6', 'draft-7']);
    expect(all['RateLimit-Policy']).toBe('5;w=60');
    expect(parseDictionary(all.RateLimit as string).get('limit')?.[0]).toBe(5);
  });
});

describe('a function', () => {
  it('is told the decisions and gives texts and numbers by name', () => {
    const write = vi.fn((all: readonly Decision[]) => ({
      'X-Left': all.map(({ policy, remaining }) => `${policy}:${remaining}`).join(' '),
      'X-Limit': all[0]?.limit as number,
      'X-Empty': '',
    }));
    expect(seen(write)).toEqual({ 'X-Left': 'p:4', 'X-Limit': '5', 'X-Empty': '' });
    expect(write).toHaveBeenCalledTimes(1);
    expect(seen(() => ({}))).toEqual({});
  });

  it.each<[unknown, string]>([
    [
      undefined,
      'headers must be a function that returns an object of headers by name, got undefined',
    ],
    [null, 'headers must be a function that returns an object of headers by name, got null'],
    ['x', 'headers must be a function that returns an object of headers by name, got "x"'],
    [
      [['a', 'b']],
      'headers must be a function that returns an object of headers by name, got an array',
    ],
    [new Map([['a', 'b']]), 'headers must be a function that returns an object of headers by name'],
    [
      new Headers({ a: 'b' }),
      'headers must be a function that returns an object of headers by name',
    ],
    [{ 'a b': 'c' }, 'headers must be a function that returns names of header fields, got "a b"'],
    [{ '': 'c' }, 'headers must be a function that returns names of header fields, got ""'],
    [{ é: 'c' }, 'headers must be a function that returns names of header fields, got "é"'],
    [{ a: 'x\ny' }, 'headers.a must be printable ASCII, got "x\\ny"'],
    [{ a: '日本' }, 'headers.a must be printable ASCII, got "日本"'],
    [{ a: 'naïve' }, 'headers.a must be printable ASCII, got "naïve"'],
    [{ a: undefined }, 'headers.a must be a text or a finite number, got undefined'],
    [{ a: ['b'] }, 'headers.a must be a text or a finite number, got an array'],
    [{ a: Number.NaN }, 'headers.a must be a text or a finite number, got NaN'],
    [{ a: Number.POSITIVE_INFINITY }, 'headers.a must be a text or a finite number, got Infinity'],
  ])('H-08 %o is an error, never one of Node at the response', (returned, message) => {
    expect(() => seen(() => returned as never)).toThrow(message);
  });

  it('a promise is an error, whatever becomes of it', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    const message = 'must be a function that returns an object of headers by name, got an object';
    expect(() => seen((async () => ({ a: 'b' })) as never)).toThrow(message);
    expect(() => seen((() => Promise.reject(new Error('lost'))) as never)).toThrow(message);
    await turn();
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('a name may have digits and marks', () => {
    expect(seen(() => ({ "X-0189_!#$%&'*+.^`|~": 'b' }))).toHaveProperty("X-0189_!#$%&'*+.^`|~");
  });

  it('a tab is no break', () => {
    expect(seen(() => ({ a: 'b\tc' }))).toEqual({ a: 'b\tc' });
  });
});

describe('what is refused', () => {
  const presets = HEADER_PRESETS.map((name) => `"${name}"`).join(', ');

  it.each<[unknown, string]>([
    ['draft-5', `headers must be one or more of ${presets}, or a function, got "draft-5"`],
    [true, `headers must be one or more of ${presets}, or a function, got true`],
    [null, `headers must be one or more of ${presets}, or a function, got null`],
    [['draft-7', 5], `headers must be one or more of ${presets}, or a function, got 5`],
    [[], 'headers must be not empty: "none" tells nothing, got an array'],
    [['none', () => ({})], 'headers must be "none" alone, or without it, got "none, () =>'],
    [{ formats: 'x' }, `headers.formats must be one or more of ${presets}, or a function, got "x"`],
    [
      { formats: null },
      `headers.formats must be one or more of ${presets}, or a function, got null`,
    ],
    [{ formats: [] }, 'headers.formats must be not empty: "none" tells nothing'],
    [{ format: 'none' }, 'headers.format is not an option; the options are formats, policies,'],
    [{ policies: 'all' }, 'headers.policies must be "each" or "strictest", got "all"'],
    [{ policies: null }, 'headers.policies must be "each" or "strictest", got null'],
    [{ expose: 'yes' }, 'headers.expose must be true or false, got "yes"'],
    [{ partitionKeySecret: '' }, 'headers.partitionKeySecret must be a text or bytes, not empty'],
    [{ partitionKeySecret: 5 }, 'headers.partitionKeySecret must be a text or bytes, not empty'],
  ])('%o', (option, message) => {
    let refused: unknown;
    try {
      parseHeaders(option as HeaderFormats);
    } catch (error) {
      refused = error;
    }
    expect(refused).toBeInstanceOf(Error);
    expect((refused as Error).message).toContain(message);
    expect(message.startsWith((refused as { field: string }).field)).toBe(true);
  });
});

it.each([
  ['draft-5', 'RL_INVALID_VALUE'],
  [true, 'RL_INVALID_TYPE'],
])('%s is refused with the code %s', (option, code) => {
  expect(() => parseHeaders(option as HeaderFormats)).toThrow(expect.objectContaining({ code }));
});

it('options are what they say', () => {
  expect(parseHeaders(undefined)).toMatchObject({ strictestOnly: false, expose: false });
  expect(parseHeaders({ policies: 'each' }).strictestOnly).toBe(false);
  expect(parseHeaders({ policies: 'strictest', expose: true })).toMatchObject({
    strictestOnly: true,
    expose: true,
  });
  expect(seen({ partitionKeySecret: 'secret' }).RateLimit).toMatch(/^"p";r=4;t=12;pk=:.{16}:$/);
  expect(seen({ partitionKeySecret: 'secret', formats: ['draft-8'] }).RateLimit).toContain(';pk=');
});

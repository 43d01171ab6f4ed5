import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from '../../src/time/duration.js';

describe('C-03 durations', () => {
  it.each<[string | number, number]>([
    ['1 minute', 60_000],
    ['2 minutes', 120_000],
    ['500ms', 500],
    ['10s', 10_000],
    ['1m', 60_000],
    ['1.5h', 5_400_000],
    ['1.5 h', 5_400_000],
    ['0.001s', 1],
    ['1.1s', 1100],
    ['30d', 2_592_000_000],
    ['52 weeks', 31_449_600_000],
    [1, 1],
    [90_000, 90_000],
  ])('%j is %i ms', (text, ms) => {
    expect(parseDuration('window', text)).toBe(ms);
  });

  it.each([
    '5x',
    'abcm',
    '',
    '-5s',
    '60',
    's',
    '1 m 30 s',
    '1M',
    '1e3s',
    ' 1s',
    '1s ',
    '1  s',
    '0s',
    '0.5ms',
    '0.0001s',
    '1.s',
    '.5s',
    'Infinity s',
    '999999999999999w',
    '100000000.000000001s',
    0,
    -1,
    1.5,
    Number.NaN,
    Infinity,
    2 ** 53,
  ])('%j is refused, not guessed', (value) => {
    expect(() => parseDuration('window', value)).toThrow(RangeError);
    expect(() => parseDuration('window', value)).toThrow(/^window must be a whole number of milli/);
  });

  it.each([null, undefined, true, {}, ['1s'], 5n])('%s is not a duration', (value) => {
    expect(() => parseDuration('window', value)).toThrow(TypeError);
  });

  it('what is formatted is parsed to the same', () => {
    const anyMs = fc.oneof(
      fc.integer({ min: 1, max: 10_000 }),
      fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
      fc.integer({ min: 1, max: 1000 }).map((days) => days * 86_400_000),
    );
    fc.assert(
      fc.property(anyMs, (ms) => {
        expect(parseDuration('window', formatDuration(ms))).toBe(ms);
      }),
    );
  });

  it.each([
    [86_400_000, '1d'],
    [3_600_000, '1h'],
    [60_000, '1m'],
    [90_000, '90s'],
    [1500, '1500ms'],
  ])('%i ms is %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

import fc from 'fast-check';
import { parseItem } from 'structured-headers';
import { describe, expect, it } from 'vitest';
import {
  sfBytes,
  sfInteger,
  sfString,
  toSeconds,
} from '../../../src/http/headers/structured-field.js';
import { fuzzRuns } from '../../support/fuzz.js';

describe('sfString', () => {
  it.each([
    ['', '""'],
    ['a b~', '"a b~"'],
    ['per "user"', '"per \\"user\\""'],
    ['a\\b', '"a\\\\b"'],
  ])('%j', (text, field) => {
    expect(sfString(text)).toBe(field);
    expect(parseItem(field)[0]).toBe(text);
  });

  it.each(['naïve', '日本', 'a\nb', '\x7f', '\x00'])('H-08 %j is refused', (text) => {
    expect(() => sfString(text)).toThrow('field must be printable ASCII, got');
  });

  it('any other text comes back from a parser of RFC 9651', () => {
    const printable = fc.string({ unit: 'grapheme-ascii', maxLength: 64 });
    fc.assert(
      fc.property(printable, (text) => {
        expect(parseItem(sfString(text))[0]).toBe(text);
      }),
      fuzzRuns(),
    );
  });
});

it.each([
  [0, 0],
  [999_999_999_999_999, 999_999_999_999_999],
  [1_000_000_000_000_000, 999_999_999_999_999],
  [2 ** 53 - 1, 999_999_999_999_999],
])('sfInteger of %i is %i', (value, written) => {
  expect(sfInteger(value)).toBe(written);
  expect(parseItem(`${sfInteger(value)}`)[0]).toBe(written);
});

it('sfBytes comes back from a parser', () => {
  for (const bytes of [Buffer.of(), Buffer.of(0, 255, 62, 63), Buffer.from('hello')]) {
    expect(Buffer.from(parseItem(sfBytes(bytes))[0] as ArrayBuffer)).toEqual(bytes);
  }
});

it.each([
  [0, 0],
  [1, 1],
  [1000, 1],
  [1001, 2],
])('toSeconds of %i ms is %i', (ms, seconds) => {
  expect(toSeconds(ms)).toBe(seconds);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundPartitionKey, encodePartitionKey, MAX_TEXT } from '../../src/key/partition-key.js';
import { fuzzRuns } from '../support/fuzz.js';

const DIGEST = `%sha256-${'0'.repeat(64)}`;

/** Texts that are near each other, of every kind of UTF-16 unit, lone surrogates among them. */
const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ unit: fc.constantFrom('%', '{', '}', '0', '7', 'b', ' ', '\u0000'), maxLength: 8 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 6 })
    .map((units) => String.fromCharCode(...units)),
  fc.string({ minLength: MAX_TEXT - 3, maxLength: MAX_TEXT + 3 }),
  fc.constant(DIGEST),
);

describe.each([
  ['encodePartitionKey', encodePartitionKey],
  ['boundPartitionKey', boundPartitionKey],
])('%s', (_, encode) => {
  it('K-07 different keys stay different', () => {
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        expect(encode(a) === encode(b)).toBe(a === b);
      }),
      fuzzRuns(),
    );
  });

  it('a long key is a digest of all of it, and its look-alike is another key', () => {
    const long = 'x'.repeat(MAX_TEXT);
    expect(encode(`${long}a`)).not.toBe(encode(`${long}b`));
    expect(encode(`${long}a`)).toMatch(/^%sha256-[0-9a-f]{64}$/);
    expect(encode(encode(`${long}a`))).not.toBe(encode(`${long}a`));
  });
});

describe('encodePartitionKey', () => {
  it('is printable ASCII without braces, at most 200 characters', () => {
    fc.assert(
      fc.property(fc.oneof(texts, fc.string({ unit: 'binary', maxLength: 5000 })), (text) => {
        expect(encodePartitionKey(text)).toMatch(/^[!-z|~]{0,200}$/);
      }),
      fuzzRuns(),
    );
  });

  it.each([
    ['tenant-42', 'tenant-42'],
    ['2001:db8::1', '2001:db8::1'],
    ['user@example.org', 'user@example.org'],
    ['a b', 'a%0020b'],
    ['100%', '100%0025'],
    ['a{b}c', 'a%007bb%007dc'],
    ['é', '%00e9'],
  ])('%j is %s', (text, encoded) => {
    expect(encodePartitionKey(text)).toBe(encoded);
  });
});

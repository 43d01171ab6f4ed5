import { describe, expect, it } from 'vitest';
import { secretKey } from '../../src/key/secret-key.js';

describe('secretKey', () => {
  // Values of FIPS 180-4 and of RFC 4231, test case 2: other tools make the same.
  it('is the SHA-256 of the text', () => {
    expect(secretKey('abc')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });

  it.each([['Jefe'], [Buffer.from('Jefe')]])('with a secret, its HMAC: %j', (secret) => {
    expect(secretKey('what do ya want for nothing?', secret)).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });

  it('texts that differ in the last character only are two keys', () => {
    const long = 'k'.repeat(1000);
    expect(secretKey(`${long}a`)).not.toBe(secretKey(`${long}b`));
    expect(secretKey(long)).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each([
    [() => secretKey(''), 'text must be a text that is not empty, got ""'],
    [() => secretKey(undefined as never), 'text must be a text that is not empty, got undefined'],
    [() => secretKey('a', ''), 'secret must be a text or bytes, not empty, got ""'],
    [() => secretKey('a', new Uint8Array()), 'secret must be a text or bytes, not empty, got ""'],
    // As where an environment variable is not set.
    [() => secretKey('a', undefined as never), 'secret must be a text or bytes, not empty, got u'],
    [() => secretKey('a', 7 as never), 'secret must be a text or bytes, not empty, got 7'],
  ])('%s is refused', (make, message) => {
    expect(make).toThrow(message);
  });
});

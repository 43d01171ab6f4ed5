import { createHash, createHmac } from 'node:crypto';
import { invalidType, invalidValue } from '../errors.js';

/**
 * A partition key for a text that must not stand in the store, such as an API key: 64 hex digits
 * that nobody can turn back into it. Without a secret it is the SHA-256 of the UTF-8 bytes, which
 * is enough for random texts and can be made by other tools. With one it is the HMAC-SHA-256:
 * for what can be guessed, such as an e-mail address, so that only those who hold the secret can
 * try guesses. All replicas need the same secret; a new one gives everybody a full bucket.
 *
 * @throws TypeError or RangeError on an empty or missing text or secret: a secret that was meant
 * and not found must not become none
 */
export function secretKey(text: string): string;
export function secretKey(text: string, secret: string | Uint8Array): string;
export function secretKey(text: string, ...secrets: (string | Uint8Array)[]): string {
  if (typeof text !== 'string') throw invalidType('text', 'a text that is not empty', text);
  if (text === '') throw invalidValue('text', 'a text that is not empty', text);
  if (secrets.length === 0) return createHash('sha256').update(text).digest('hex');
  const secret = checkSecret(secrets[0], 'secret');
  return createHmac('sha256', secret).update(text).digest('hex');
}

/** @throws TypeError or RangeError that calls the secret `field` and does not show one */
export function checkSecret(secret: unknown, field: string): string | Uint8Array {
  const expected = 'a text or bytes, not empty';
  if (typeof secret !== 'string' && !(secret instanceof Uint8Array)) {
    throw invalidType(field, expected, secret);
  }
  // Not shown: it is nearly always read from the environment.
  if (secret.length === 0) throw invalidValue(field, expected, '');
  return secret;
}

import { createHash } from 'node:crypto';

/** The longest text that is kept as it is, in UTF-16 code units. */
export const MAX_TEXT = 200;

/** What stands in a bucket key as itself: printable ASCII without space, `%`, `{` and `}`. */
const PLAIN = /^[!-$&-z|~]*$/;
const ESCAPED = /[^!-$&-z|~]/g;

/** How a digest begins. Escaping never makes this, as `s` is not a hex digit. */
const DIGEST = '%sha256-';

/**
 * A partition key as the text between the braces of a bucket key: printable ASCII without braces,
 * at most 200 characters.
 *
 * Injective: two different keys never share a text. Other characters become `%` and four hex
 * digits for each UTF-16 code unit, so `"é"` composed and decomposed stay apart, as do lone
 * surrogates. What would be longer becomes `%sha256-` and 64 hex digits.
 */
export function encodePartitionKey(key: string): string {
  if (key.length > MAX_TEXT) return digest(key);
  if (PLAIN.test(key)) return key;
  const escaped = key.replace(ESCAPED, (unit) => `%${hex4(unit.charCodeAt(0))}`);
  return escaped.length > MAX_TEXT ? digest(key) : escaped;
}

/**
 * A partition key as a bounded text for use within this process: itself when it is short, else its
 * digest. It keeps a client that sends a megabyte of key from filling the memory. Injective: a key
 * that looks like a digest is replaced by its own.
 */
export function boundPartitionKey(key: string): string {
  if (key.length > MAX_TEXT) return digest(key);
  return key[0] === '%' && key.startsWith(DIGEST) ? digest(key) : key;
}

/** Of the UTF-16 bytes: UTF-8 would make all lone surrogates the same. */
function digest(key: string): string {
  return DIGEST + createHash('sha256').update(key, 'utf16le').digest('hex');
}

function hex4(code: number): string {
  return code.toString(16).padStart(4, '0');
}

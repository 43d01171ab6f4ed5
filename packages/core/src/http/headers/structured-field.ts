import { invalidValue } from '../../errors.js';

/** The largest integer of a structured field (RFC 9651, section 3.3.1). */
const MAX_INTEGER = 999_999_999_999_999;

/** What a String of a structured field may hold: printable ASCII (RFC 9651, section 3.3.3). */
const PRINTABLE = /^[\x20-\x7e]*$/;

/**
 * A String: quoted, `"` and `\` escaped.
 * @throws RangeError on a text that no String can hold
 */
export function sfString(text: string): string {
  if (!PRINTABLE.test(text)) throw invalidValue('field', 'printable ASCII', text);
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/**
 * An Integer: what is larger than one can be is the largest.
 * @param value whole, at least 0
 */
export function sfInteger(value: number): number {
  return Math.min(value, MAX_INTEGER);
}

/** A Byte Sequence: `:aGVsbG8=:`. */
export function sfBytes(bytes: Uint8Array): string {
  return `:${Buffer.from(bytes).toString('base64')}:`;
}

/** Whole seconds, rounded up, so that a client that obeys is never a moment too early. */
export function toSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

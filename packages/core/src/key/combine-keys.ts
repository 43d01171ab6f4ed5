import { invalidType, invalidValue } from '../errors.js';

/** What a partition key may be made of. A number stands for its decimal text. */
export type KeyPart = string | number | bigint;

/** What would be read as a separator, or as what makes one harmless. */
const SPECIAL = /[|~]/g;

/**
 * One partition key of several parts, in their order: `POST /lang|203.0.113.7`. Two lists of parts
 * give one key only where they are the same texts: a `|` or `~` within a part is written `~|` or
 * `~~`.
 *
 * A part that is missing is refused, since all requests without it would share a bucket: say in the
 * app what is to stand for it, or return undefined from `key`.
 *
 * @throws TypeError or RangeError that names the part by its index and shows the value
 */
export function combineKeys(...parts: readonly KeyPart[]): string {
  if (parts.length === 0) throw invalidValue('parts.length', 'at least 1', 0);
  return parts.map((part, i) => textOfPart(part, i).replace(SPECIAL, '~$&')).join('|');
}

function textOfPart(part: unknown, index: number): string {
  const text = keyText(part);
  if (text !== undefined) return text;
  const refuse = typeof part === 'string' || typeof part === 'number' ? invalidValue : invalidType;
  throw refuse(`parts[${index}]`, 'a text that is not empty or a finite number', part);
}

/**
 * A value as the text of a partition key; undefined for what names nobody: undefined, null, an
 * empty text, NaN and Infinity, booleans, objects.
 */
export function keyText(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  const exact = typeof value === 'bigint' || Number.isFinite(value);
  return exact ? String(value) : undefined;
}

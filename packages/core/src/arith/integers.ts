import { invalidType, invalidValue } from '../errors.js';

/**
 * The most units a bucket can hold. All amounts are integers below 2^53, which a double holds exactly, in JavaScript and in the Lua
 * of Redis alike. On this range `Math.floor(a / b)` and `Math.ceil(a / b)` of integers are exact
 * too. Why: let a = q·b + r with 0 < r < b. The quotient's rounding error is at most
 * a/b · 2^-53, and to reach the next integer it would have to be at least 1/b; so a ≥ 2^53.
 * Hence the code divides, and needs no big integers.
 *
 * The 64 below 2^53 are room for clients: ioredis 6 reads an integer of a reply by adding the
 * character code of each digit before it takes 48 off, and would round the last few.
 */
export const MAX_AMOUNT: number = 2 ** 53 - 64;

/**
 * Refuses what is not an integer from `min` to `max`, naming the field and showing the value.
 * Text is refused too: `"10"` is a mistake, not ten.
 */
export function checkInteger(
  field: string,
  value: unknown,
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): number {
  const expected = `an integer ${max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`}`;
  if (typeof value !== 'number') throw invalidType(field, expected, value);
  if (!Number.isSafeInteger(value) || value < min || value > max) {
    throw invalidValue(field, expected, value);
  }
  return value;
}

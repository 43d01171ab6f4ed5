import { invalidType } from '../errors.js';

/** @throws TypeError that names the option and shows the value */
export function checkFunction(field: string, value: unknown, of = 'the request'): void {
  if (typeof value !== 'function') throw invalidType(field, `a function of ${of}`, value);
}

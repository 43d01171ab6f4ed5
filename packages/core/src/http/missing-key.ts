import { invalidType, invalidValue, show } from '../errors.js';

/** What becomes of a request whose key is missing. */
export const MISSING_KEY = ['address', 'deny', 'skip'] as const;
export type MissingKey = (typeof MISSING_KEY)[number];

/** What becomes of a request that is to be charged to its address and has none. */
export const NO_ADDRESS = ['error', 'deny', 'skip', 'share'] as const;
export type NoAddress = (typeof NO_ADDRESS)[number];

/**
 * The choice for each policy by name; `address` where the app made none.
 * @throws TypeError or RangeError that names the option and shows the value
 */
export function checkMissingKey(
  option: unknown,
  policies: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, MissingKey> {
  const byPolicy = typeof option === 'object' && option !== null;
  if (byPolicy) checkPolicyNames('missingKey', option, policies);
  const chosen = (name: string): unknown =>
    byPolicy ? (option as Record<string, unknown>)[name] : option;
  const field = (name: string): string => (byPolicy ? `missingKey.${name}` : 'missingKey');
  return new Map(
    [...policies.keys()].map((name) => [
      name,
      checkChoice(field(name), MISSING_KEY, chosen(name) ?? 'address'),
    ]),
  );
}

/** @throws TypeError or RangeError that names the option and shows the value */
export function checkChoice<Choice extends string>(
  field: string,
  choices: readonly Choice[],
  value: unknown,
): Choice {
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  const refuse = typeof value === 'string' ? invalidValue : invalidType;
  throw refuse(field, `one of ${choices.map(show).join(', ')}`, value);
}

/** @throws RangeError where an option by policy names one that the limiter does not have */
export function checkPolicyNames(
  field: string,
  byPolicy: object,
  policies: ReadonlyMap<string, unknown>,
): void {
  const unknown = Object.keys(byPolicy).find((name) => !policies.has(name));
  if (unknown === undefined) return;
  const names = [...policies.keys()].map(show).join(', ');
  throw invalidValue(field, `by names of policies (${names})`, unknown);
}

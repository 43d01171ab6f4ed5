import { invalidType, invalidValue, isRateLimitError } from '../errors.js';
import type { ShownLimiter, StatusTerms } from './options.js';

/** What the page is asked to explain. */
export interface Question {
  readonly limiter: ShownLimiter;
  readonly policy: string;
  readonly key: string;
  readonly cost: number;
}

/** A header's value; undefined or empty where there is none. */
export type HeaderReader = (name: string) => string | null | undefined;

/**
 * Reads a question from headers: of a key in a URL, access logs would tell.
 * @returns what is wrong with it, naming the header
 */
export function readQuestion(
  { limiters }: Pick<StatusTerms<never>, 'limiters'>,
  header: HeaderReader,
): Question | string {
  try {
    const limiter = chooseLimiter(limiters, header);
    const policy = choosePolicy(limiter, header);
    const key = read(header, 'rl-key');
    if (key === '') throw invalidValue('rl-key', 'a percent-encoded text that is not empty', key);
    return { limiter, policy, key, cost: readCost(header) };
  } catch (error) {
    if (isRateLimitError(error)) return error.message;
    throw error;
  }
}

function chooseLimiter(
  limiters: StatusTerms<never>['limiters'],
  header: HeaderReader,
): ShownLimiter {
  const name = read(header, 'rl-limiter');
  const [first, second] = limiters;
  if (first !== undefined && second === undefined && name === '') return first.limiter;
  const found = limiters.find((one) => one.name === name);
  if (found !== undefined) return found.limiter;
  throw invalidValue('rl-limiter', oneOf(limiters.map((one) => one.name ?? '')), name);
}

function choosePolicy({ policies }: ShownLimiter, header: HeaderReader): string {
  const name = read(header, 'rl-policy');
  const [only] = policies.keys();
  if (name === '' && policies.size === 1 && only !== undefined) return only;
  if (policies.has(name)) return name;
  throw invalidValue('rl-policy', oneOf([...policies.keys()]), name);
}

function readCost(header: HeaderReader): number {
  const text = read(header, 'rl-cost');
  const cost = text === '' ? 1 : Number(text);
  if (/^\d*$/.test(text) && Number.isSafeInteger(cost)) return cost;
  throw invalidValue('rl-cost', 'an integer, at least 0', text);
}

function oneOf(names: readonly string[]): string {
  return `one of ${names.map((name) => JSON.stringify(name)).join(', ')}`;
}

function read(header: HeaderReader, name: string): string {
  const value = header(name) ?? '';
  try {
    return decodeURIComponent(value);
  } catch {
    throw invalidType(name, 'percent-encoded UTF-8', value);
  }
}

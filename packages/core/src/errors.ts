/**
 * Every error this library makes carries a `code` that `docs/errors.md` explains and says whether
 * asking again can help. A denial is a decision, never an error.
 */
export type ErrorCode =
  | 'RL_INVALID_TYPE'
  | 'RL_INVALID_VALUE'
  | 'RL_UNKNOWN_OPTION'
  | 'RL_UNKNOWN_POLICY'
  | 'RL_POLICY_CONFLICT'
  | 'RL_CLOSED'
  | 'RL_STORE_FAILED';

/** Why a store could not answer, as far as it or its client said. */
export type StoreFault =
  /** No answer came by the deadline. */
  | 'timeout'
  /** There is no connection: refused, reset, ended, or the client is still trying. */
  | 'connection'
  /** The server is there and cannot serve for now: it loads, is busy, or its cluster is down. */
  | 'unavailable'
  /** It takes no writes: it is a Redis replica, or cannot persist. */
  | 'read-only'
  /** It has no memory left for writes. */
  | 'memory'
  /** Its user may not do what is needed, or did not log in. */
  | 'permission'
  | 'other';

/** What our errors have in common, whichever built-in class they extend. */
export interface RateLimitError extends Error {
  readonly code: ErrorCode;
  /** True where the same call may succeed later without a change to the program. */
  readonly retryable: boolean;
  /** The option or argument at fault, as the caller wrote it: `policies.tenant.limit`. */
  readonly field?: string;
  /** With `RL_STORE_FAILED`: what kind of trouble it is. */
  readonly fault?: StoreFault;
  /** With `RL_STORE_FAILED`: which part of the store it was, where several were asked; see `Store.placeOf`. */
  readonly place?: string;
}

/** Registered symbol, so that an error made by the ESM build is known to the CJS build. */
const MARK: unique symbol = Symbol.for('@rl/core/error') as never;

/** True for an error made by this library, also by another copy of it in the same process. */
export function isRateLimitError(value: unknown): value is RateLimitError {
  return value instanceof Error && MARK in value;
}

function mark(error: Error, code: ErrorCode, field?: string, retryable = false): RateLimitError {
  const facts: Record<PropertyKey, unknown> = { [MARK]: true, code, retryable };
  if (field !== undefined) facts.field = field;
  return Object.assign(error, facts) as unknown as RateLimitError;
}

/** A value as an error message shows it: strings quoted, long ones cut, objects by their kind. */
export function show(value: unknown): string {
  if (typeof value === 'string') {
    return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  }
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  return Object.is(value, -0) ? '-0' : String(value);
}

/** What a thrown value says: also one that is no error, and one that has no text. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error
    ? thrown.message
    : typeof thrown === 'string'
      ? thrown
      : show(thrown);
}

/** A TypeError: `field` has a value of the wrong type. */
export function invalidType(field: string, expected: string, value: unknown): RateLimitError {
  const error = new TypeError(`${field} must be ${expected}, got ${show(value)}`);
  return mark(error, 'RL_INVALID_TYPE', field);
}

/** A RangeError: `field` has the right type and a value that cannot be used. */
export function invalidValue(field: string, expected: string, value: unknown): RateLimitError {
  const error = new RangeError(`${field} must be ${expected}, got ${show(value)}`);
  return mark(error, 'RL_INVALID_VALUE', field);
}

/** Refuses an option that is not in `known`: a misspelt option must not be ignored in silence. */
export function checkOptionNames(where: string, options: object, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const field = where === '' ? name : `${where}.${name}`;
    const error = new TypeError(`${field} is not an option; the options are ${known.join(', ')}`);
    throw mark(error, 'RL_UNKNOWN_OPTION', field);
  }
}

/** A TypeError: the call names a policy that the limiter does not have. */
export function unknownPolicy(
  name: string,
  known: Iterable<string>,
  field = 'keys',
): RateLimitError {
  const list = [...known].map(show).join(', ');
  const error = new TypeError(`${field} names the policy ${show(name)}; the limiter has ${list}`);
  return mark(error, 'RL_UNKNOWN_POLICY', `${field}.${name}`);
}

/** A TypeError: two limiters on one store give one policy name two meanings. */
export function policyConflict(name: string, details: string): RateLimitError {
  const error = new TypeError(
    `policy ${show(name)} is in use on this store with other values (${details}); give one of them another name`,
  );
  return mark(error, 'RL_POLICY_CONFLICT', 'policies');
}

/** A TypeError: a claim on a bucket whose policy has no lease. */
export function notLeased({ name }: { readonly name: string }): RateLimitError {
  return invalidType('claim.policy', 'a policy with a lease', name);
}

/** The limiter or store was used after `close()`. */
export function closed(what: 'limiter' | 'store'): RateLimitError {
  return mark(new Error(`the ${what} is closed`), 'RL_CLOSED');
}

/**
 * The store could not answer: nothing is known about the decision, and trying again may help.
 * @param what it was to do: a verb, as in "the store could not decide"
 * @param hint what the message says behind the cause's own
 */
export function storeFailed(
  what: string,
  cause: unknown,
  fault: StoreFault = 'other',
  hint = '',
): RateLimitError {
  const error = new Error(`the store could not ${what}: ${messageOf(cause)}${hint}`, { cause });
  return Object.assign(mark(error, 'RL_STORE_FAILED', undefined, true), { fault });
}

/** True where a store could not answer, which says nothing of what was asked. */
export function isStoreFailure(value: unknown): value is RateLimitError {
  return isRateLimitError(value) && value.code === 'RL_STORE_FAILED';
}

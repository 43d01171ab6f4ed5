import { invalidType, invalidValue, show } from '../errors.js';
import { checkFunction } from './functions.js';
import type { ChargeOptions } from './options.js';
import type { RequestReader } from './request-reader.js';
import { type Later, when } from './thenable.js';

export const PREFLIGHT = ['skip', 'charge'] as const;
export type Preflight = (typeof PREFLIGHT)[number];

/** A method as RFC 9110 has it, section 9.1, in capitals as they all are. */
const METHOD = /^[A-Z][A-Z-]*$/;

/**
 * The test of whether a request is charged at all, by its method, by whether it is a preflight, and by
 * `skip`. At once, unless that is a promise.
 *
 * @throws TypeError or RangeError that names the option and shows the value
 */
export function chargedRequests<Request>(
  { methods, preflight = 'skip', skip }: ChargeOptions<Request>,
  reader: RequestReader<Request>,
): (request: Request) => Later<boolean> {
  if (!PREFLIGHT.includes(preflight)) {
    throw invalidValue('preflight', `one of ${PREFLIGHT.map(show).join(', ')}`, preflight);
  }
  if (skip !== undefined) checkFunction('skip', skip);
  const charged = methods === undefined ? undefined : checkMethods(methods);
  const skipsPreflight = preflight === 'skip';
  return (request) => {
    const method = reader.methodOf(request);
    if (charged !== undefined && !charged.has(method)) return false;
    if (skipsPreflight && method === 'OPTIONS' && isPreflight(request, reader)) return false;
    return skip === undefined ? true : when(skip(request), (skipped) => !checkSkip(skipped));
  };
}

/** HEAD is charged where GET is, which it costs the server as much. */
function checkMethods(methods: unknown): ReadonlySet<string> {
  const expected = 'a list of methods such as "POST", not empty';
  if (!Array.isArray(methods)) throw invalidType('methods', expected, methods);
  if (methods.length === 0) throw invalidValue('methods', expected, methods);
  for (const method of methods) {
    if (typeof method !== 'string') throw invalidType('methods', expected, method);
    if (!METHOD.test(method)) throw invalidValue('methods', `${expected}, in capitals`, method);
  }
  const charged = new Set<string>(methods);
  if (charged.has('GET')) charged.add('HEAD');
  return charged;
}

/** What a browser asks by itself before a request to another origin (Fetch, section 4.8). */
function isPreflight<Request>(request: Request, reader: RequestReader<Request>): boolean {
  return (
    reader.headerOf(request, 'origin') !== undefined &&
    reader.headerOf(request, 'access-control-request-method') !== undefined
  );
}

/** What a function forgot to return is no reason to let a request pass unseen. */
function checkSkip(skipped: unknown): boolean {
  if (typeof skipped === 'boolean') return skipped;
  throw invalidType('skip', 'a function that returns true or false', skipped);
}

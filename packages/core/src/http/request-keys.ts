import { invalidType, invalidValue, show } from '../errors.js';
import { type KeyPart, keyText } from '../key/combine-keys.js';
import type { Keys } from '../limiter/limiter.js';
import { warnOnce } from '../warnings.js';
import type { MissingKey } from './missing-key.js';
import type { Setup } from './setup.js';
import { isThenable } from './thenable.js';

/**
 * The partition keys of a request as an app gives them, by policy. Undefined, null, an empty text,
 * NaN, Infinity, a boolean and an object are missing keys.
 */
export type RequestKeys = { readonly [policy: string]: KeyPart | null | undefined };

/** The bucket of all requests without an address, where `noAddress` is `share`. */
const SHARED_KEY = 'no-address';

/** A request that a policy denies as it does not say whom it is to be charged to. */
export class Unnamed {
  constructor(readonly policy: string) {}
}

/**
 * What the limiter is asked where `areUsable` is false: the keys with numbers as texts and a stand-in for each missing one;
 * undefined where nothing is left to ask. Never a key that nobody gave.
 *
 * @param isShadow of the name of a policy; one that only watches denies nobody
 * @throws TypeError or RangeError where a key is a promise, or a request without an address has to
 * be charged to it
 */
export function usableKeys<Request>(
  setup: Setup<Request>,
  request: Request,
  keys: RequestKeys,
  isShadow: (policy: string) => boolean,
): Keys | Unnamed | undefined {
  const usable: Record<string, string> = {};
  for (const [name, key] of Object.entries(keys)) {
    const missingKey = setup.missingKey.get(name);
    // Not a policy of the limiter, which says so.
    if (missingKey === undefined) return keys as Keys;
    if (isThenable(key)) throw promisedKey(name, key);
    const text = keyText(key) ?? standInFor(setup, request, missingKey);
    if (typeof text === 'string') usable[name] = text;
    else if (text === DENY && !isShadow(name)) return new Unnamed(name);
  }
  return Object.keys(usable).length === 0 ? undefined : usable;
}

/** What is done without a key. Not texts, which are keys. */
const DENY: unique symbol = Symbol('deny');
const SKIP: unique symbol = Symbol('skip');

function standInFor<Request>(
  setup: Setup<Request>,
  request: Request,
  choice: MissingKey,
): string | typeof DENY | typeof SKIP {
  if (choice !== 'address') return choice === 'deny' ? DENY : SKIP;
  const key = setup.clientKeyOf(request);
  if (key !== undefined) return key;
  const { noAddress } = setup;
  const address = setup.addressOf(request);
  warnOnce(
    'RL_NO_ADDRESS',
    `a request has no client address to be charged to, got ${show(address)}: noAddress is ${show(noAddress)}`,
  );
  if (noAddress === 'share') return SHARED_KEY;
  if (noAddress !== 'error') return noAddress === 'deny' ? DENY : SKIP;
  const expected =
    'given, or noAddress chosen, where a request has no client address, as on a Unix socket';
  throw invalidValue('key', expected, address);
}

/** True where the limiter can be asked with these keys as they are: they mostly are so. */
export function areUsable(keys: RequestKeys): keys is Keys {
  for (const name in keys) {
    const key = keys[name];
    if (typeof key !== 'string' || key === '') return false;
  }
  return true;
}

function promisedKey(name: string, key: PromiseLike<unknown>): Error {
  // It is refused here, so nobody else would hear of its rejection.
  key.then(undefined, () => {});
  const expected = 'a text, not a promise: let the function of all keys return the promise';
  return invalidType(`keys.${name}`, expected, key);
}

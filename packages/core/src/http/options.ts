import { checkInteger } from '../arith/integers.js';
import { checkOptionNames, invalidType, invalidValue } from '../errors.js';
import { createLimiter, type Keys, type Limiter } from '../limiter/limiter.js';
import { type PolicyOptions, parsePolicy } from '../policy/policy.js';
import type { Store } from '../store/store.js';
import { isThenable } from './thenable.js';

interface CommonOptions<Request> {
  /** Permits a request costs: an integer, at least 0, or a function of the request. Default 1. */
  cost?: number | ((request: Request) => number | PromiseLike<number>) | undefined;
  /** False switches the middleware off: no check, no headers, no store call. Default true. */
  enabled?: boolean | undefined;
}

/** One policy, given in place. */
export interface PolicyRateLimitOptions<Request> extends CommonOptions<Request>, PolicyOptions {
  /** Name of the policy, in headers and in the store. Default `"default"`. */
  name?: string | undefined;
  /** Where buckets live. Default: this process's memory. */
  store?: Store | undefined;
  /** The partition key: whom the request is charged to. Default: the client's address. */
  key?: ((request: Request) => string | PromiseLike<string>) | undefined;
  limiter?: undefined;
  keys?: undefined;
}

/** A limiter made elsewhere, with its policies. */
export interface LimiterRateLimitOptions<Request> extends CommonOptions<Request> {
  limiter: Limiter;
  /** Which policy the request falls under and its partition key: `{ tenant: req.tenant }`. */
  keys: (request: Request) => Keys | PromiseLike<Keys>;
  limit?: undefined;
  window?: undefined;
  burst?: undefined;
  algorithm?: undefined;
  name?: undefined;
  store?: undefined;
  key?: undefined;
}

/** What `rateLimit` takes, the same in every framework. */
export type RateLimitOptions<Request> =
  | PolicyRateLimitOptions<Request>
  | LimiterRateLimitOptions<Request>;

/** The options after checking, in one form. */
export interface Setup<Request> {
  readonly enabled: boolean;
  readonly limiter: Limiter;
  readonly keysOf: (request: Request) => Keys | PromiseLike<Keys>;
  readonly costOf: number | ((request: Request) => number | PromiseLike<number>);
  /** Ends the limiter where it was made here. */
  readonly close: () => Promise<void>;
}

const COMMON = ['cost', 'enabled'];
const WITH_POLICY = ['limit', 'window', 'burst', 'algorithm', 'name', 'store', 'key', ...COMMON];
const WITH_LIMITER = ['limiter', 'keys', ...COMMON];

/**
 * Checks the options of an adapter.
 *
 * @param addressOf the framework's own view of the client's address: the default partition key
 * @throws TypeError or RangeError that names the option and shows the value
 */
export function checkOptions<Request>(
  options: RateLimitOptions<Request>,
  addressOf: (request: Request) => string | undefined,
): Setup<Request> {
  if (typeof options !== 'object' || options === null) {
    throw invalidType('options', 'an object with limit and window, or with limiter', options);
  }
  const { cost = 1, enabled = true } = options;
  if (typeof cost !== 'function') checkInteger('cost', cost, 0);
  if (typeof enabled !== 'boolean') throw invalidType('enabled', 'true or false', enabled);
  return options.limiter === undefined
    ? { enabled, costOf: cost, ...fromPolicy(options, addressOf) }
    : { enabled, costOf: cost, ...fromLimiter(options) };
}

type Source<Request> = Pick<Setup<Request>, 'limiter' | 'keysOf' | 'close'>;

function fromPolicy<Request>(
  options: PolicyRateLimitOptions<Request>,
  addressOf: (request: Request) => string | undefined,
): Source<Request> {
  checkOptionNames('', options, WITH_POLICY);
  const { name = 'default', store, limit, window, burst, algorithm } = options;
  const key = options.key ?? ((request: Request) => addressKey(addressOf(request)));
  if (typeof key !== 'function') throw invalidType('key', 'a function of the request', key);
  const policy = { limit, window, burst, algorithm };
  // Once more below, where errors would call the field policies.default.limit.
  parsePolicy(name, policy, '');
  const limiter = createLimiter({ policies: { [name]: policy }, store });
  const keysOf = (request: Request): Keys | PromiseLike<Keys> => {
    const found = key(request);
    return isThenable(found) ? found.then((later) => ({ [name]: later })) : { [name]: found };
  };
  return { limiter, keysOf, close: () => limiter.close() };
}

function fromLimiter<Request>(options: LimiterRateLimitOptions<Request>): Source<Request> {
  checkOptionNames('', options, WITH_LIMITER);
  const { limiter, keys: keysOf } = options;
  if (typeof limiter !== 'object' || limiter === null || !('tryConsume' in limiter)) {
    throw invalidType('limiter', 'a limiter made by createLimiter', limiter);
  }
  if (typeof keysOf !== 'function') throw invalidType('keys', 'a function of the request', keysOf);
  return { limiter, keysOf, close: async () => {} };
}

function addressKey(address: string | undefined): string {
  if (address) return address;
  throw invalidValue(
    'key',
    'given where a request has no client address, as on a Unix socket',
    address,
  );
}

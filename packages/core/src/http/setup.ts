import { checkInteger } from '../arith/integers.js';
import { checkOptionNames, invalidType, invalidValue } from '../errors.js';
import { checkIpv6Prefix } from '../key/address-key.js';
import {
  createLimiter,
  type Limiter,
  type PerPolicy,
  type PolicyChanges,
} from '../limiter/limiter.js';
import { POLICY_OPTION_NAMES, type PolicyOptions, parsePolicy } from '../policy/policy.js';
import { AfterResponse } from './after-response.js';
import { Answer } from './answer.js';
import { chargedRequests } from './charged-requests.js';
import { clientAddresses } from './client-address.js';
import { clientKeys } from './client-key.js';
import { checkFunction } from './functions.js';
import {
  checkChoice,
  checkMissingKey,
  checkPolicyNames,
  type MissingKey,
  NO_ADDRESS,
  type NoAddress,
} from './missing-key.js';
import type {
  CommonOptions,
  GivenLimiterOptions,
  InPlaceOptions,
  LimiterRateLimitOptions,
  PolicyRateLimitOptions,
  RateLimitOptions,
} from './options.js';
import type { RequestKeys } from './request-keys.js';
import type { RequestReader } from './request-reader.js';
import { type Later, when } from './thenable.js';

/** The options after checking, in one form. */
export interface Setup<Request> extends Source<Request> {
  readonly enabled: boolean;
  readonly isCharged: (request: Request) => Later<boolean>;
  readonly answer: Answer<Request>;
  readonly afterResponse: AfterResponse<Request>;
  readonly costOf: PerPolicy<number> | ((request: Request) => Later<PerPolicy<number>>);
  readonly missingKey: ReadonlyMap<string, MissingKey>;
  readonly noAddress: NoAddress;
  readonly addressOf: (request: Request) => string | undefined;
  /** The default partition key. */
  readonly clientKeyOf: (request: Request) => string | undefined;
}

/** What depends on whether the limiter is made here. */
interface Source<Request> {
  readonly limiter: Limiter;
  readonly keysOf: (request: Request) => Later<RequestKeys>;
  readonly policiesOf: ((request: Request) => Later<PolicyChanges | undefined>) | undefined;
  /** Ends the limiter where it was made here. */
  readonly close: () => Promise<void>;
}

/** All of some options, by name: the compiler sees that none is missing. */
type AllOf<Options> = { readonly [Name in keyof Options]-?: true };

const COMMON: AllOf<CommonOptions<never>> = {
  skip: true,
  methods: true,
  preflight: true,
  headers: true,
  body: true,
  retryJitter: true,
  onDenied: true,
  refundWhen: true,
  settle: true,
  cost: true,
  enabled: true,
  missingKey: true,
  noAddress: true,
  ipv6Prefix: true,
  trustedProxies: true,
  forwardedBy: true,
  policies: true,
};
const IN_PLACE: AllOf<InPlaceOptions<never>> = {
  limit: true,
  name: true,
  store: true,
  fallback: true,
  key: true,
};
const GIVEN: AllOf<GivenLimiterOptions<never>> = { limiter: true, keys: true };

/** What the policy takes as it is. */
const POLICY = POLICY_OPTION_NAMES.filter((name) => !(name in IN_PLACE));
const WITH_POLICY = [
  ...new Set([...POLICY_OPTION_NAMES, ...Object.keys(IN_PLACE), ...Object.keys(COMMON)]),
];
const WITH_LIMITER = [...Object.keys(GIVEN), ...Object.keys(COMMON)];

/**
 * Checks the options of an adapter.
 *
 * @throws TypeError or RangeError that names the option and shows the value
 */
export function checkOptions<Request>(
  options: RateLimitOptions<Request>,
  reader: RequestReader<Request>,
): Setup<Request> {
  if (typeof options !== 'object' || options === null) {
    throw invalidType('options', 'an object with limit and window, or with limiter', options);
  }
  const { cost = 1, enabled = true, policies } = options;
  if (typeof enabled !== 'boolean') throw invalidType('enabled', 'true or false', enabled);
  if (policies !== undefined) checkFunction('policies', policies);
  const noAddress = checkChoice('noAddress', NO_ADDRESS, options.noAddress ?? 'error');
  const ownAddressOf = clientAddresses(options, reader);
  const addressOf = ownAddressOf ?? ((request: Request) => reader.addressOf(request));
  // What the framework believes no longer matters where the app said whom to believe.
  const proxies = ownAddressOf === undefined ? reader.proxies : undefined;
  const clientKeyOf = clientKeys(addressOf, checkIpv6Prefix(options.ipv6Prefix), proxies);
  const isCharged = chargedRequests(options, reader);
  const answer = new Answer(options);
  const source =
    options.limiter === undefined ? fromPolicy(options, clientKeyOf) : fromLimiter(options);
  try {
    const known = source.limiter.policies;
    checkCost(cost, known);
    const missingKey = checkMissingKey(options.missingKey, known);
    const afterResponse = new AfterResponse(source.limiter, options);
    const own = { enabled, isCharged, answer, afterResponse, costOf: cost, missingKey, noAddress };
    return { ...source, ...own, addressOf, clientKeyOf };
  } catch (error) {
    // Its policies' names on the store are free again.
    void source.close();
    throw error;
  }
}

function fromPolicy<Request>(
  options: PolicyRateLimitOptions<Request>,
  clientKeyOf: (request: Request) => string | undefined,
): Source<Request> {
  checkOptionNames('', options, WITH_POLICY);
  const { name = 'default', store, limit, burst, fallback } = options;
  const given = Object.entries(options).filter(([option]) => POLICY.includes(option));
  const asGiven = Object.fromEntries(given) as Omit<PolicyOptions, 'limit' | 'fallback'>;
  // Where each request brings its limit, this one is a base that is never in force.
  const policy: PolicyOptions =
    typeof limit === 'function'
      ? { ...asGiven, limit: 1, burst: undefined, shards: undefined }
      : { ...asGiven, limit };
  // Once more below, where errors would call the field policies.default.limit.
  parsePolicy(name, { ...policy, burst }, '');
  const policiesOf = typeof limit === 'function' ? limitOf(name, limit, options) : options.policies;
  const keysOf = keyOf(name, options, clientKeyOf);
  const limiter = createLimiter({ policies: { [name]: policy }, store, fallback });
  return { limiter, keysOf, policiesOf, close: () => limiter.close() };
}

function keyOf<Request>(
  name: string,
  { key, missingKey }: PolicyRateLimitOptions<Request>,
  clientKeyOf: (request: Request) => string | undefined,
): (request: Request) => Later<RequestKeys> {
  if (key === undefined) {
    if (missingKey === undefined) return (request) => ({ [name]: clientKeyOf(request) });
    throw invalidValue('missingKey', 'left out where there is no key: see noAddress', missingKey);
  }
  checkFunction('key', key);
  const named = (found: RequestKeys[string]): RequestKeys => ({ [name]: found });
  return (request) => when(key(request), named);
}

/** The policy with the limit of each request. */
function limitOf<Request>(
  name: string,
  limit: (request: Request) => Later<number>,
  { policies, burst, shards }: PolicyRateLimitOptions<Request>,
): (request: Request) => Later<PolicyChanges> {
  if (policies !== undefined) {
    throw invalidValue('policies', 'left out where limit is a function', policies);
  }
  const change = (found: number): PolicyChanges => {
    checkInteger('limit', found, 0);
    // A limit of 0 has no burst, and no shards.
    return { [name]: found === 0 ? { limit: 0 } : { limit: found, burst, shards } };
  };
  return (request) => when(limit(request), change);
}

function fromLimiter<Request>(options: LimiterRateLimitOptions<Request>): Source<Request> {
  checkOptionNames('', options, WITH_LIMITER);
  const { limiter, keys: keysOf, policies: policiesOf } = options;
  if (typeof limiter !== 'object' || limiter === null || !('tryConsume' in limiter)) {
    throw invalidType('limiter', 'a limiter made by createLimiter', limiter);
  }
  checkFunction('keys', keysOf);
  return { limiter, keysOf, policiesOf, close: async () => {} };
}

function checkCost(cost: unknown, policies: ReadonlyMap<string, unknown>): void {
  if (typeof cost === 'function') return;
  if (typeof cost !== 'object' || cost === null) {
    checkInteger('cost', cost, 0);
    return;
  }
  checkPolicyNames('cost', cost, policies);
  for (const [name, price] of Object.entries(cost)) checkInteger(`cost.${name}`, price, 0);
}

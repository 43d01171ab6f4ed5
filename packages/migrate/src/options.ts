import {
  createLimiter,
  type FallbackMode,
  type FallbackOptions,
  type Limiter,
  type PolicyOptions,
  type Store,
} from '@rl/core';
import {
  checkOptionNames,
  invalidType,
  invalidValue,
  POLICY_OPTION_NAMES,
  parsePolicy,
} from '@rl/core/http';

/** One policy, given in place: as the adapters take it, but for limit and window. */
export interface PolicyInPlace
  extends Omit<PolicyOptions, 'limit' | 'window' | 'overdraft' | 'fallback'> {
  /**
   * Name of the policy in the store: it identifies the quota, so limiters with one name on one store
   * share it. Default: the name of the middleware's package, such as `"express-rate-limit"`.
   */
  name?: string | undefined;
  /** Where buckets live. Default: this process's memory. */
  store?: Store | undefined;
  /**
   * What becomes of requests while the store cannot answer, and how long they wait for it. A mode
   * stands for the options with that mode. Default `"local"`.
   */
  fallback?: FallbackMode | FallbackOptions | undefined;
}

/** A policy of a limiter that was made elsewhere, with `createLimiter`. */
export interface GivenPolicy {
  limiter: Limiter;
  /** Name of the policy there. */
  policy: string;
}

/** Options of the other form. */
export type Absent<Options> = { [Name in keyof Options]?: undefined };

/** What a middleware says of a policy, and what does not go with every limit. */
type Values = Pick<PolicyOptions, 'limit' | 'window' | 'burst' | 'shards'>;

/** A policy and the limiter that it is asked of. */
export interface Source {
  readonly limiter: Limiter;
  readonly policy: string;
  /** Ends the limiter where it was made here. */
  readonly close: () => Promise<void>;
}

/** What the policy takes as it is: limit and window are the middleware's, and nothing settles. */
const OF_POLICY = POLICY_OPTION_NAMES.filter(
  (name) => !['limit', 'window', 'overdraft', 'fallback'].includes(name),
);
const IN_PLACE = [...OF_POLICY, 'name', 'store', 'fallback'];

/**
 * Windows are counted, as these middlewares do by themselves: what they tell clients is a count, and
 * when all of it comes back.
 */
const ALGORITHM = 'fixed-window';

/**
 * Refuses options that neither form has, and a mixture of both.
 *
 * @param inPlace further options of the form with a policy in place
 * @param given further options of the form with a limiter
 */
export function checkForm(
  options: object,
  inPlace: readonly string[] = [],
  given: readonly string[] = [],
): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalidType('options', 'an object such as { store }, or { limiter, policy }', options);
  }
  const known = isGiven(options) ? ['limiter', 'policy', ...given] : [...IN_PLACE, ...inPlace];
  checkOptionNames('', present(options), known);
}

/** True where the options name a policy of a limiter. */
export function isGiven(options: object): options is GivenPolicy {
  return 'limiter' in options && options.limiter !== undefined;
}

/**
 * A policy with these values in a limiter of its own.
 *
 * @param beside further policies of that limiter
 */
export function ownSource(
  options: PolicyInPlace,
  defaultName: string,
  values: Values,
  beside: (name: string) => Readonly<Record<string, PolicyOptions>> = () => ({}),
): Source {
  const { name = defaultName, store, fallback } = options;
  // Once more below, where errors would call the field policies.<name>.limit.
  checkPolicy(options, defaultName, values);
  const policy = policyOf(options, values);
  const policies = { [name]: policy, ...beside(name) };
  const limiter = createLimiter({ policies, store, fallback });
  return { limiter, policy: name, close: () => limiter.close() };
}

/** @throws TypeError or RangeError that names the option and shows the value */
export function checkPolicy(options: PolicyInPlace, defaultName: string, values: Values): void {
  parsePolicy(options.name ?? defaultName, policyOf(options, values), '');
}

/** Values of a policy whose limit and window come with each call: never in force. */
const NEVER_IN_FORCE: Values = {
  limit: 1,
  window: '1m',
  burst: undefined,
  shards: undefined,
};

/** As `ownSource`, for a policy whose limit and window come with each call. */
export function perCallSource(
  options: PolicyInPlace,
  defaultName: string,
  beside?: (name: string) => Readonly<Record<string, PolicyOptions>>,
): Source {
  checkPolicy(options, defaultName, { ...NEVER_IN_FORCE, burst: options.burst });
  return ownSource(options, defaultName, NEVER_IN_FORCE, beside);
}

/** The policy as it is given to a limiter. What the limiter has for itself is left out. */
function policyOf(options: PolicyInPlace, values: Values): PolicyOptions {
  const given = Object.entries(options).filter(([option]) => OF_POLICY.includes(option));
  return { algorithm: ALGORITHM, ...present(Object.fromEntries(given)), ...values };
}

/** Without what is undefined, which means left out. */
function present(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** A policy of a limiter that was given. */
export function givenSource({ limiter, policy }: GivenPolicy): Source {
  if (typeof limiter !== 'object' || limiter === null || !('tryConsume' in limiter)) {
    throw invalidType('limiter', 'a limiter made by createLimiter', limiter);
  }
  checkPolicyName('policy', limiter, policy);
  return { limiter, policy, close: async () => {} };
}

export function checkPolicyName(field: string, limiter: Limiter, policy: unknown): string {
  if (typeof policy === 'string' && limiter.policies.has(policy)) return policy;
  const known = [...limiter.policies.keys()].map((name) => JSON.stringify(name)).join(', ');
  const refuse = typeof policy === 'string' ? invalidValue : invalidType;
  throw refuse(field, `the name of a policy of the limiter (${known})`, policy);
}

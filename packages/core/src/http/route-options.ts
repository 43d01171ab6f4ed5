import { invalidType, invalidValue } from '../errors.js';
import { POLICY_OPTION_NAMES } from '../policy/policy.js';
import type {
  CommonOptions,
  GivenLimiterOptions,
  InPlaceOptions,
  LimiterRateLimitOptions,
  PolicyRateLimitOptions,
  RateLimitOptions,
} from './options.js';

/** What a limit is about, so that each says it for itself. */
type OwnCommon = 'methods' | 'cost' | 'policies' | 'refundWhen' | 'settle';

/** What routes have from their context where they do not say it themselves. */
export interface InheritedOptions<Request>
  extends Omit<CommonOptions<Request>, OwnCommon>,
    Partial<Pick<InPlaceOptions<Request>, 'store' | 'fallback' | 'key'>>,
    Partial<GivenLimiterOptions<Request>> {
  /** False: the context has no limit of its own, only what its routes inherit. */
  global: false;
}

/** What a context of routes is given: a limit for all of them, or only what they inherit. */
export type ContextRateLimitOptions<Request> =
  | InheritedOptions<Request>
  | (PolicyRateLimitOptions<Request> & { global?: true | undefined })
  | (LimiterRateLimitOptions<Request> & { global?: true | undefined });

/** What a route says besides its limit. */
export interface RoutePlacement<Hook extends string> {
  /** True has it in the place of the limits of its contexts. Default false: they all apply. */
  override?: boolean | undefined;
  /** The hook in which it is charged. Default: the context's. */
  hook?: Hook | undefined;
}

/** The limit of one route; what it leaves out it has from its context. */
export type RouteRateLimitOptions<Request, Hook extends string = never> =
  | (PolicyRateLimitOptions<Request> & RoutePlacement<Hook>)
  // An object: with all of it optional, true would do.
  | (object &
      Omit<LimiterRateLimitOptions<Request>, keyof GivenLimiterOptions<Request>> &
      Partial<GivenLimiterOptions<Request>> &
      RoutePlacement<Hook>);

/** Not inherited: what a limit is. Of the rest all is, also what is added later. */
const OWN: Readonly<Record<OwnCommon, true>> = {
  methods: true,
  cost: true,
  policies: true,
  refundWhen: true,
  settle: true,
};
const NOT_INHERITED: readonly string[] = [
  ...POLICY_OPTION_NAMES.filter((name) => name !== 'fallback'),
  ...['name', 'global', 'override', 'hook'],
  ...Object.keys(OWN),
];
const ONLY_IN_PLACE: readonly string[] = ['store', 'fallback', 'key'];
const ONLY_WITH_LIMITER: readonly string[] = ['limiter', 'keys'];

/** True where a route wants none of the limits of its contexts. */
export function standsAlone(own: unknown): boolean {
  return own === false || (own as { override?: unknown } | undefined)?.override === true;
}

/**
 * The options of a route's own gate, with what it inherits: of the form that it has itself, which is
 * that of the context where it neither names a limiter nor gives a limit.
 *
 * @throws TypeError or RangeError that names the option and shows the value
 */
export function withInherited<Request>(
  own: RouteRateLimitOptions<Request, string>,
  context: ContextRateLimitOptions<Request>,
): RateLimitOptions<Request> {
  const { override = false, hook: _, ...rest } = own;
  if (typeof override !== 'boolean') throw invalidType('override', 'true or false', override);
  const given = Object.fromEntries(
    Object.entries(rest).filter(([, value]) => value !== undefined),
  ) as Record<string, unknown>;
  const sharesLimiter =
    context.limiter !== undefined && !('limiter' in given || 'limit' in given || 'window' in given);
  const withLimiter = sharesLimiter || 'limiter' in given;
  const left = new Set(withLimiter ? ONLY_IN_PLACE : ONLY_WITH_LIMITER);
  // Charged twice under the same keys, a request would count double.
  if (!sharesLimiter || !(override || context.global === false)) left.add('keys');
  if (!withLimiter && !('key' in given) && context.key === undefined) left.add('missingKey');
  if (!withLimiter && context.limiter !== undefined && !('store' in given)) {
    const expected = 'given for a limit beside a limiter, whose own store is not known';
    throw invalidValue('store', expected, undefined);
  }
  const inherited = Object.entries(context).filter(
    ([name]) => !left.has(name) && !NOT_INHERITED.includes(name),
  );
  return { ...Object.fromEntries(inherited), ...given } as unknown as RateLimitOptions<Request>;
}

/**
 * The options of the context's own gate. Where it has no limit they make one that is switched off, so
 * that what routes inherit is checked all the same.
 *
 * @throws TypeError or RangeError that names the option and shows the value
 */
export function ofContext<Request>(
  context: ContextRateLimitOptions<Request>,
): RateLimitOptions<Request> {
  if (typeof context !== 'object' || context === null) {
    throw invalidType('options', 'an object with limit and window, or with limiter', context);
  }
  const { global = true, ...options } = context;
  if (typeof global !== 'boolean') throw invalidType('global', 'true or false', global);
  if (global) return options as RateLimitOptions<Request>;
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || !NOT_INHERITED.includes(name)) continue;
    throw invalidValue(name, 'left out where global is false: routes do not inherit it', value);
  }
  const { limiter, keys = () => ({}), missingKey, ...inherited } = options;
  const limit =
    limiter !== undefined
      ? { limiter, keys, missingKey }
      : { name: 'rl.inherited', limit: 1, window: '1s', ...(options.key && { missingKey }) };
  const enabled = inherited.enabled === undefined || inherited.enabled === true;
  const off = enabled ? { enabled: false } : {};
  return { ...inherited, ...limit, ...off } as unknown as RateLimitOptions<Request>;
}

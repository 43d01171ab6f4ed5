import { checkOptionNames, invalidType, invalidValue } from '../errors.js';
import type { Limiter, PolicyChanges } from '../limiter/contract.js';

/** What the page reads of a limiter. */
export type ShownLimiter = Pick<Limiter, 'policies' | 'metrics' | 'health' | 'top' | 'explain'>;

export interface StatusPageOptions<Request> {
  /** One limiter made by `createLimiter`, or several by the names that the page gives them. */
  limiters: ShownLimiter | { readonly [name: string]: ShownLimiter };
  /**
   * Whether this request may see the page: true, or a promise of true. Any other answer is a 403. Asked
   * for every request, those for the style sheet and the script too. Where it fails, so does the request.
   */
  allow: (request: Request) => boolean | Promise<boolean>;
  /**
   * What the app puts in place of a policy's values for this key, such as its tier's limit: what `policies`
   * of the middleware gives for its requests. Asked where a key is to be explained. Left out: it is
   * explained under the values the limiter was made with.
   */
  policies?: PoliciesOf | undefined;
  /**
   * True shows partition keys as they are. Default false: the first two characters, and six hex digits
   * that differ from replica to replica and from start to start.
   */
  showKeys?: boolean | undefined;
}

export type PoliciesOf = (
  policy: string,
  key: string,
) => PolicyChanges | undefined | Promise<PolicyChanges | undefined>;

/** Options after checking. */
export interface StatusTerms<Request> {
  /** At least one; a single one has no name. */
  readonly limiters: readonly {
    readonly name: string | undefined;
    readonly limiter: ShownLimiter;
  }[];
  readonly allow: (request: Request) => boolean | Promise<boolean>;
  readonly policies: PoliciesOf | undefined;
  readonly showKeys: boolean;
}

const A_LIMITER = 'a limiter made by createLimiter';

/** @throws TypeError or RangeError that names the option and shows the value */
export function parseStatusOptions<Request>(
  options: StatusPageOptions<Request>,
): StatusTerms<Request> {
  if (typeof options !== 'object' || options === null) {
    throw invalidType('options', 'an object with limiters and allow', options);
  }
  checkOptionNames('', options, ['limiters', 'allow', 'policies', 'showKeys']);
  const { limiters, allow, policies, showKeys = false } = options;
  if (typeof allow !== 'function') {
    const expected = 'a function of the request that says who may see the page';
    throw invalidType('allow', expected, allow);
  }
  if (policies !== undefined && typeof policies !== 'function') {
    throw invalidType('policies', 'a function of a policy and a key', policies);
  }
  if (typeof showKeys !== 'boolean') throw invalidType('showKeys', 'true or false', showKeys);
  return { limiters: parseLimiters(limiters), allow, policies, showKeys };
}

/**
 * Where a page is, in a framework that does not mount: without the slash at its end.
 * @throws TypeError or RangeError that names the option and shows the value
 */
export function parseMountPath(path: unknown = '/ratelimit'): string {
  const expected = 'a path that begins with one "/", such as "/ratelimit"';
  if (typeof path !== 'string') throw invalidType('path', expected, path);
  if (!/^\/(?![/\\])[^?#\s]*$/.test(path)) throw invalidValue('path', expected, path);
  return path.replace(/\/+$/, '');
}

function parseLimiters(limiters: unknown): StatusTerms<never>['limiters'] {
  if (isLimiter(limiters)) return [{ name: undefined, limiter: limiters }];
  if (typeof limiters !== 'object' || limiters === null || Array.isArray(limiters)) {
    throw invalidType('limiters', `${A_LIMITER}, or an object of some by name`, limiters);
  }
  const named = Object.entries(limiters);
  if (named.length === 0) throw invalidValue('limiters', 'at least one limiter', limiters);
  return named.map(([name, limiter]) => {
    if (!isLimiter(limiter)) throw invalidType(`limiters.${name}`, A_LIMITER, limiter);
    return { name, limiter };
  });
}

function isLimiter(value: unknown): value is ShownLimiter {
  const { policies, metrics, health, top, explain } = (value ?? {}) as Partial<ShownLimiter>;
  const isComplete = [metrics, health, top, explain].every((one) => typeof one === 'function');
  return isComplete && typeof policies?.get === 'function';
}

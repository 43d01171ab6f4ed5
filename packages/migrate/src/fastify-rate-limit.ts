import { combineKeys } from '@rl/core';
import { checkInteger, invalidValue } from '@rl/core/http';
import type { Count } from './count.js';
import {
  type Absent,
  checkForm,
  type GivenPolicy,
  givenSource,
  isGiven,
  type PolicyInPlace,
  perCallSource,
} from './options.js';
import { checkKey, checkLimit, PerCallPolicy } from './per-call.js';

/** A policy in place. Its limit and window come with each call, as `max` and `timeWindow`. */
export interface FastifyPolicyInPlace extends PolicyInPlace, Absent<GivenPolicy> {}

/** A policy of a limiter, whose limit and window are overruled by those of each call. */
export interface FastifyGivenPolicy extends GivenPolicy, Absent<PolicyInPlace> {}

export type FastifyRateLimitStoreOptions = FastifyPolicyInPlace | FastifyGivenPolicy;

/** What the plugin is told of a client: above `max` exactly where the request is denied. */
export interface FastifyCount {
  current: number;
  /** Milliseconds. */
  ttl: number;
}

export type FastifyCallback = (error: Error | null, result?: FastifyCount) => void;

/** A store of @fastify/rate-limit, of all routes or of one. */
export interface FastifyRateLimitStore {
  /** Decides and charges a request. An error is that of a key, `max` or `timeWindow` that cannot be used. */
  incr(key: string, callback: FastifyCallback, timeWindow: number, max: number): void;
  /** What is there, charging nothing. */
  read(key: string, callback: FastifyCallback, timeWindow: number, max: number): void;
  /** The store of a route that has a limit of its own. */
  child(routeOptions: object): FastifyRateLimitStore;
}

/** A class, as the plugin's `store` takes it. All that are made of it have one policy. */
export interface FastifyRateLimitStoreClass {
  new (globalParams: object): FastifyRateLimitStore;
  /** Ends the limiter, where that was made here: `app.addHook('onClose', () => Store.close())`. */
  close(): Promise<void>;
}

/**
 * A store for @fastify/rate-limit: `app.register(rateLimit, { max, timeWindow, store })`. Routes with
 * a limit of their own are counted apart.
 *
 * @throws TypeError or RangeError that names the option and shows the value. Options of the plugin
 * that no shared store can keep, such as `ban`, are refused when it is registered
 */
export function toFastifyRateLimitStore(
  options: FastifyRateLimitStoreOptions = {},
): FastifyRateLimitStoreClass {
  checkForm(options);
  const source = isGiven(options)
    ? givenSource(options)
    : perCallSource(options, 'fastify-rate-limit');
  const policy = new PerCallPolicy(source, isGiven(options) ? {} : options);

  return class LimiterStore implements FastifyRateLimitStore {
    readonly #route: readonly string[];

    static close(): Promise<void> {
      return source.close();
    }

    /** @param route keys of two routes are apart; empty for all that have no limit of their own */
    constructor(params: object, ...route: readonly string[]) {
      checkPlugin(params);
      this.#route = route;
    }

    incr(key: string, callback: FastifyCallback, timeWindow: number, max: number): void {
      answer(callback, () => {
        const own = this.#keyOf(key);
        checkInteger('timeWindow', timeWindow, 1);
        checkLimit('max', max);
        if (max === 0) return { current: 1, ttl: timeWindow };
        if (max === Number.POSITIVE_INFINITY) return { current: 1, ttl: timeWindow };
        const count = policy.consume(own, max, timeWindow);
        return 'then' in count ? count.then(told) : told(count);
      });
    }

    read(key: string, callback: FastifyCallback, timeWindow: number, max: number): void {
      answer(callback, async () => {
        const own = this.#keyOf(key);
        checkInteger('timeWindow', timeWindow, 1);
        checkLimit('max', max);
        if (max === 0 || max === Number.POSITIVE_INFINITY) return { current: 0, ttl: 0 };
        const { spent, waitMs } = await policy.peek(own, max, timeWindow);
        return { current: spent, ttl: waitMs };
      });
    }

    child(routeOptions: object): FastifyRateLimitStore {
      return new LimiterStore(routeOptions, nameOf(routeOptions));
    }

    /** The plugin takes numbers as keys, too. */
    #keyOf(key: string | number): string {
      return combineKeys(...this.#route, checkKey(key));
    }
  };
}

/** What these do is worked out from a count of denied requests, which are charged nothing here. */
const NEED_DENIALS: Readonly<Record<string, (value: unknown) => boolean>> = {
  continueExceeding: (value) => value === true,
  exponentialBackoff: (value) => value === true,
  ban: (value) => typeof value === 'number' && value > 0,
};

function checkPlugin(params: object): void {
  for (const [name, value] of Object.entries(params)) {
    if (NEED_DENIALS[name]?.(value) !== true) continue;
    const expected =
      'left out with this store, which counts no denied requests: they are charged nothing';
    throw invalidValue(name, expected, value);
  }
}

/**
 * The method and URL of a route. `createRateLimit(options)` and `rateLimit(options)` name none: what
 * they make is told apart by its limits.
 */
function nameOf(routeOptions: object): string {
  const { routeInfo, max, timeWindow } = routeOptions as {
    routeInfo?: { method?: unknown; url?: unknown };
    max?: unknown;
    timeWindow?: unknown;
  };
  const { method, url } = routeInfo ?? {};
  if (url !== undefined) return `${String(method)} ${String(url)}`;
  return `${numberOr(max)} per ${numberOr(timeWindow)}`;
}

function numberOr(value: unknown): string {
  return typeof value === 'number' ? String(value) : 'any';
}

function told({ used, waitMs }: Count): FastifyCount {
  return { current: used, ttl: waitMs };
}

/** Calls back once, at once where the answer is there. */
function answer(
  callback: FastifyCallback,
  decide: () => FastifyCount | Promise<FastifyCount>,
): void {
  let made: FastifyCount | Promise<FastifyCount>;
  try {
    made = decide();
  } catch (error) {
    callback(error as Error);
    return;
  }
  if (!('then' in made)) {
    callback(null, made);
    return;
  }
  made.then(
    (result) => callback(null, result),
    (error) => callback(error),
  );
}

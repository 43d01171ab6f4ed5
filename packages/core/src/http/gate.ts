import type { Decision } from '../decision/decision.js';
import { invalidType } from '../errors.js';
import type { PerPolicy, PolicyChanges } from '../limiter/limiter.js';
import type { ProxyView } from './client-key.js';
import { type Header, rateLimitFields } from './headers.js';
import type { RateLimitOptions } from './options.js';
import { type Refusal, refusalOf, refusalOfUnnamed } from './problem.js';
import { areUsable, type RequestKeys, Unnamed, usableKeys } from './request-keys.js';
import { checkOptions, type Setup } from './setup.js';
import { isThenable, when } from './thenable.js';

/** What is to be done with a request. */
export interface Verdict {
  /** Undefined where a request is denied as it does not say whom it is to be charged to. */
  readonly decision: Decision | undefined;
  /** For the response in either case. They are lists: several limiters append to one field. */
  readonly headers: readonly Header[];
  /** How to answer where the request was denied; undefined where it goes ahead. */
  readonly refusal: Refusal | undefined;
}

type Outcome = Verdict | undefined | Promise<Verdict | undefined>;

/**
 * What all adapters share: from a framework's request to the verdict. An adapter hands in its
 * request, writes the verdict's headers, and answers with the refusal or goes on.
 */
export class Gate<Request> {
  readonly #setup: Setup<Request>;

  /**
   * @param addressOf the framework's own view of a client's address: the default partition key
   * @param proxies undefined: no warnings about proxies
   * @throws TypeError or RangeError that names the option and shows the value
   */
  constructor(
    options: RateLimitOptions<Request>,
    addressOf: (request: Request) => string | undefined,
    proxies?: ProxyView<Request>,
  ) {
    this.#setup = checkOptions(options, addressOf, proxies);
  }

  /**
   * The verdict, at once where it can be had at once, else as a promise. Undefined where the request
   * goes ahead without one: the middleware is switched off, or no policy is left that applies.
   *
   * Throws, or rejects, where a key, cost or policy cannot be used and where the limiter or its store
   * is closed: the adapter passes that to the framework's error handling. It is always an object,
   * since to some frameworks an error that is undefined or a text means "go on". A store that cannot
   * answer is no error: the limiter's fallback decides then.
   */
  judge(request: Request): Verdict | Promise<Verdict | undefined> | undefined {
    if (!this.#setup.enabled) return undefined;
    try {
      const verdict = this.#judge(request);
      return isThenable(verdict) ? verdict.catch(fail) : verdict;
    } catch (reason) {
      return fail(reason);
    }
  }

  /** Ends the limiter where the options made it; one that was passed in belongs to the app. */
  close(): Promise<void> {
    return this.#setup.close();
  }

  /** Asks the app's functions one after the other, so that none is left alone with its failure. */
  #judge(request: Request): Outcome {
    const keys = this.#setup.keysOf(request);
    if (!isThenable(keys)) return this.#price(request, keys);
    return Promise.resolve(keys).then((later) => this.#price(request, later));
  }

  #price(request: Request, keys: RequestKeys): Outcome {
    const { costOf } = this.#setup;
    if (typeof costOf !== 'function') return this.#adjust(request, keys, costOf);
    return when(costOf(request), (cost) => {
      // What a function forgot to return is not a cost of 1.
      if (cost === undefined) throw invalidType('cost', 'an integer of at least 0', cost);
      return this.#adjust(request, keys, cost);
    });
  }

  #adjust(request: Request, keys: RequestKeys, cost: PerPolicy<number>): Outcome {
    const { policiesOf } = this.#setup;
    if (policiesOf === undefined) return this.#decide(request, keys, cost, undefined);
    return when(policiesOf(request), (changes) => this.#decide(request, keys, cost, changes));
  }

  #decide(
    request: Request,
    keys: RequestKeys,
    cost: PerPolicy<number>,
    policies: PolicyChanges | undefined,
  ): Outcome {
    const { limiter } = this.#setup;
    const usable = areUsable(keys) ? keys : this.#usable(request, keys, policies);
    if (usable === undefined) return undefined;
    if (usable instanceof Unnamed) {
      return { decision: undefined, headers: [], refusal: refusalOfUnnamed(usable.policy) };
    }
    // Most requests cost one permit: the limiter has a shorter way for those.
    const options = cost === 1 && policies === undefined ? undefined : { cost, policies };
    const decision = limiter.tryConsume(usable, options);
    if (decision !== undefined) return this.#verdictOf(decision, policies);
    return limiter.consume(usable, options).then((later) => this.#verdictOf(later, policies));
  }

  #usable(request: Request, keys: RequestKeys, policies: PolicyChanges | undefined) {
    return usableKeys(this.#setup, request, keys, (name) => this.#isShadow(name, policies));
  }

  #isShadow(name: string, policies: PolicyChanges | undefined): boolean {
    return policies?.[name]?.shadow ?? this.#setup.limiter.policies.get(name)?.shadow ?? false;
  }

  /** A policy that only watches is not told of. */
  #verdictOf(decision: Decision, policies: PolicyChanges | undefined): Verdict {
    const all = decision.each ?? [decision];
    const told = all.filter(({ policy }) => !this.#isShadow(policy, policies));
    const refusal = decision.allowed ? undefined : refusalOf(decision);
    return { decision, headers: rateLimitFields(told), refusal };
  }
}

function fail(reason: unknown): never {
  if (typeof reason === 'object' && reason !== null) throw reason;
  throw new Error(`the request could not be judged: ${String(reason)}`, { cause: reason });
}

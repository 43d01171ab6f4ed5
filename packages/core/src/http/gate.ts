import type { Decision } from '../decision/decision.js';
import { invalidType } from '../errors.js';
import type { Keys, PerPolicy, PolicyChanges } from '../limiter/limiter.js';
import type { ResponseEnd } from './after-response.js';
import type { Refusal } from './answer.js';
import type { Told } from './headers/header.js';
import { type HeaderSet, NO_HEADERS } from './headers/report.js';
import type { RateLimitOptions } from './options.js';
import { areUsable, type RequestKeys, Unnamed, usableKeys } from './request-keys.js';
import type { RequestReader } from './request-reader.js';
import { checkOptions, type Setup } from './setup.js';
import { isThenable, type Later, when } from './thenable.js';

/** What is to be done with a request. */
export interface Verdict {
  /** Undefined where a request is denied as it does not say whom it is to be charged to. */
  readonly decision: Decision | undefined;
  /** What the client is told of its quotas, in either case. */
  readonly headers: HeaderSet;
  /** How to answer where the request was denied; undefined where it goes ahead. */
  readonly refusal: Refusal | undefined;
  /** To be called once the response has ended; undefined where nothing depends on that. */
  readonly onEnd: ((response: ResponseEnd) => void) | undefined;
}

type Outcome = Later<Verdict | undefined>;

/**
 * What all adapters share: from a framework's request to the verdict. An adapter says how its requests
 * are read, writes the verdict's headers, and answers with the refusal or goes on.
 */
export class Gate<Request> {
  readonly #setup: Setup<Request>;
  readonly #identityOf: (request: Request) => unknown;
  /** Set on requests that came by, so that one that comes by twice is charged once. */
  readonly #mark: symbol = Symbol('rl.charged');

  /** @throws TypeError or RangeError that names the option and shows the value */
  constructor(options: RateLimitOptions<Request>, reader: RequestReader<Request>) {
    this.#setup = checkOptions(options, reader);
    this.#identityOf = (request) => reader.identityOf?.(request) ?? request;
  }

  /**
   * The verdict, at once where it can be had at once, else as a promise. Undefined where the request
   * goes ahead without one: the middleware is switched off, nothing applies to the request, or it has
   * been here before, as where one middleware is mounted for a path and for all.
   *
   * Throws, or rejects, where a function of the app fails or gives what cannot be used, and where the
   * limiter or its store is closed: the adapter passes that to the framework's error handling. It is
   * always an object, since to some frameworks an error that is undefined or a text means "go on". A
   * store that cannot answer is no error: the limiter's fallback decides then.
   */
  judge(request: Request): Verdict | Promise<Verdict | undefined> | undefined {
    if (!this.#setup.enabled || this.#hasSeen(request)) return undefined;
    try {
      const isCharged = this.#setup.isCharged(request);
      const verdict = isThenable(isCharged)
        ? when(isCharged, (later) => (later ? this.#judge(request) : undefined))
        : isCharged
          ? this.#judge(request)
          : undefined;
      return isThenable(verdict) ? Promise.resolve(verdict).catch(fail) : verdict;
    } catch (reason) {
      return fail(reason);
    }
  }

  /** Ends the limiter where the options made it; one that was passed in belongs to the app. */
  close(): Promise<void> {
    return this.#setup.close();
  }

  /** A property costs a tenth of a WeakSet's entry. A request that takes none is new each time. */
  #hasSeen(request: Request): boolean {
    const identity = this.#identityOf(request);
    if (typeof identity !== 'object' || identity === null) return false;
    const marked = identity as { [mark: symbol]: true | undefined };
    if (marked[this.#mark] === true) return true;
    if (Object.isExtensible(identity)) marked[this.#mark] = true;
    return false;
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
    given: RequestKeys,
    cost: PerPolicy<number>,
    policies: PolicyChanges | undefined,
  ): Outcome {
    const { limiter } = this.#setup;
    const keys = areUsable(given) ? given : this.#usable(request, given, policies);
    if (keys === undefined) return undefined;
    if (keys instanceof Unnamed) return this.#denyUnnamed(request, keys);
    // Most requests cost one permit: the limiter has a shorter way for those.
    const options = cost === 1 && policies === undefined ? undefined : { cost, policies };
    const decision = limiter.tryConsume(keys, options);
    if (decision !== undefined) return this.#verdictOf(request, keys, cost, policies, decision);
    return limiter
      .consume(keys, options)
      .then((later) => this.#verdictOf(request, keys, cost, policies, later));
  }

  #usable(request: Request, keys: RequestKeys, policies: PolicyChanges | undefined) {
    return usableKeys(this.#setup, request, keys, (name) => this.#isShadow(name, policies));
  }

  #isShadow(name: string, policies: PolicyChanges | undefined): boolean {
    return policies?.[name]?.shadow ?? this.#setup.limiter.policies.get(name)?.shadow ?? false;
  }

  #denyUnnamed(request: Request, { policy }: Unnamed): Outcome {
    return when(this.#setup.answer.refuseUnnamed(request, policy), (refusal) => {
      return { decision: undefined, headers: NO_HEADERS, refusal, onEnd: undefined };
    });
  }

  /** A policy that only watches is not told of. */
  #verdictOf(
    request: Request,
    keys: Keys,
    cost: PerPolicy<number>,
    policies: PolicyChanges | undefined,
    decision: Decision,
  ): Outcome {
    const { answer, afterResponse } = this.#setup;
    const told: Told[] = [];
    for (const one of decision.each ?? [decision]) {
      if (this.#isShadow(one.policy, policies)) continue;
      told.push({ decision: one, key: keys[one.policy] as string });
    }
    const headers = answer.report.headersOf(this.#identityOf(request), told);
    if (!decision.allowed) {
      return when(answer.refuse(request, decision), (refusal) => {
        return { decision, headers, refusal, onEnd: undefined };
      });
    }
    const onEnd = afterResponse.isNeeded
      ? (response: ResponseEnd): void =>
          void afterResponse.run(request, response, { keys, cost, policies, decision })
      : undefined;
    return { decision, headers, refusal: undefined, onEnd };
  }
}

function fail(reason: unknown): never {
  if (typeof reason === 'object' && reason !== null) throw reason;
  throw new Error(`the request could not be judged: ${String(reason)}`, { cause: reason });
}

import type { Decision } from '../decision/decision.js';
import type { Keys } from '../limiter/limiter.js';
import type { Policy } from '../policy/policy.js';
import { type Header, policyField, stateField } from './headers.js';
import { checkOptions, type RateLimitOptions, type Setup } from './options.js';
import { type Refusal, refusalOf } from './problem.js';
import { isThenable } from './thenable.js';

/** What is to be done with a request. */
export interface Verdict {
  readonly decision: Decision;
  /** For the response in either case. They are lists: several limiters append to one field. */
  readonly headers: readonly Header[];
  /** How to answer where the request was denied; undefined where it goes ahead. */
  readonly refusal: Refusal | undefined;
}

/**
 * What all adapters share: from a framework's request to the verdict. An adapter hands in its
 * request, writes the verdict's headers, and answers with the refusal or goes on.
 */
export class Gate<Request> {
  readonly #setup: Setup<Request>;
  readonly #policyFields: ReadonlyMap<string, string>;

  /** @throws TypeError or RangeError that names the option and shows the value */
  constructor(
    options: RateLimitOptions<Request>,
    addressOf: (request: Request) => string | undefined,
  ) {
    this.#setup = checkOptions(options, addressOf);
    const policies = [...this.#setup.limiter.policies.values()];
    this.#policyFields = new Map(policies.map((policy) => [policy.name, policyField(policy)]));
  }

  /**
   * The verdict, at once where it can be had at once, else as a promise. Undefined where the
   * middleware is switched off.
   *
   * Throws, or rejects, where a key or cost cannot be used and where the store cannot answer: the
   * adapter passes that to the framework's error handling. It is always an object, since to some
   * frameworks an error that is undefined or a text means "go on".
   */
  judge(request: Request): Verdict | Promise<Verdict> | undefined {
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

  #judge(request: Request): Verdict | Promise<Verdict> {
    const { keysOf, costOf } = this.#setup;
    const keys = keysOf(request);
    const cost = typeof costOf === 'number' ? costOf : costOf(request);
    if (isThenable(keys) || isThenable(cost)) return this.#judgeLater(keys, cost);
    return this.#decide(keys, cost);
  }

  async #judgeLater(
    keys: Keys | PromiseLike<Keys>,
    cost: number | PromiseLike<number>,
  ): Promise<Verdict> {
    const [key, price] = await Promise.all([keys, cost]);
    return this.#decide(key, price);
  }

  #decide(keys: Keys, cost: number): Verdict | Promise<Verdict> {
    const { limiter } = this.#setup;
    const decision = limiter.tryConsume(keys, { cost });
    if (decision !== undefined) return this.#verdict(decision);
    return limiter.consume(keys, { cost }).then((later) => this.#verdict(later));
  }

  #verdict(decision: Decision): Verdict {
    const policy = this.#setup.limiter.policies.get(decision.policy) as Policy;
    const headers: Header[] = [
      ['RateLimit-Policy', this.#policyFields.get(policy.name) as string],
      ['RateLimit', stateField(decision)],
    ];
    return {
      decision,
      headers,
      refusal: decision.allowed ? undefined : refusalOf(policy, decision),
    };
  }
}

function fail(reason: unknown): never {
  if (typeof reason === 'object' && reason !== null) throw reason;
  throw new Error(`the request could not be judged: ${String(reason)}`, { cause: reason });
}

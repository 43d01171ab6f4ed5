import { AsyncLocalStorage } from 'node:async_hooks';
import { createLimiter, type Decision } from '@rl/core';
import { invalidType, invalidValue, parseDuration } from '@rl/core/http';
import { countOf, spentOf } from './count.js';
import type {
  ClientCount,
  ExpressPolicyInPlace,
  ExpressRateLimitStore,
  ExpressRateLimitStoreOptions,
  MiddlewareTerms,
} from './express-contract.js';
import { checkForm, checkPolicy, givenSource, isGiven, ownSource, type Source } from './options.js';
import { resetOrWarn } from './outage.js';

/** A request that was charged, or denied, and may be taken back. */
interface Charged {
  readonly key: string;
  /** Undefined until it is decided. */
  decision: Decision | undefined;
}

/** Those that count up to the limit: what is spent is then a count that other limits compare with. */
const WINDOWS = ['fixed-window', 'sliding-window', 'sliding-log'];

const NAME = 'express-rate-limit';

class LimiterStore implements ExpressRateLimitStore {
  readonly localKeys: boolean;
  readonly prefix: string;
  readonly #options: ExpressRateLimitStoreOptions;
  #source: Source | undefined;
  /** Why the middleware and these options do not go together: every request fails by it. */
  #fault: unknown;
  #limitVaries = false;
  /**
   * Which request is being answered: `decrement` is told of a key alone, and a denied request, which
   * was charged nothing, must not bring a permit back. Only where the middleware takes requests back.
   */
  #requests: AsyncLocalStorage<Charged> | undefined;

  constructor(options: ExpressRateLimitStoreOptions) {
    checkForm(options, ['limit', 'window']);
    this.#options = options;
    if (isGiven(options)) {
      this.#source = givenSource(options);
      this.localKeys = false;
      this.prefix = `${this.#source.policy}:`;
      return;
    }
    const { name = NAME, limit, window, store, fallback } = options;
    this.localKeys = store === undefined;
    this.prefix = `${name}:`;
    if (limit !== undefined && window !== undefined) {
      this.#source = this.#open(limit, window);
      return;
    }
    // What is wrong is said now, though the policy is known once the middleware has told its own.
    checkPolicy(options, NAME, { limit: limit ?? 1, window: window ?? '1m' });
    const check = { 'rl.check': { limit: 1, window: '1m' } };
    void createLimiter({ policies: check, store, fallback }).close();
  }

  init(terms: MiddlewareTerms): void {
    try {
      this.#source = this.#agree(terms);
    } catch (error) {
      this.#fault = error;
      throw error;
    }
    if (terms.skipFailedRequests || terms.skipSuccessfulRequests) {
      this.#requests ??= new AsyncLocalStorage();
    }
  }

  // Not async: what it notes of the request is noted for its caller.
  increment(key: string): ClientCount | Promise<ClientCount> {
    const { limiter, policy } = this.#opened();
    const charged: Charged = { key, decision: undefined };
    this.#requests?.enterWith(charged);
    const tell = (decision: Decision): ClientCount => {
      charged.decision = decision;
      const { allowed, used, waitMs } = countOf(decision, limiter);
      // Where other limits than ours are compared with, none may be above what a denial says.
      const totalHits = allowed || !this.#limitVaries ? used : Number.MAX_SAFE_INTEGER;
      return { totalHits, resetTime: after(waitMs) };
    };
    const decision = limiter.tryConsume({ [policy]: key });
    return decision === undefined ? limiter.consume({ [policy]: key }).then(tell) : tell(decision);
  }

  async decrement(key: string): Promise<void> {
    const { limiter, policy } = this.#opened();
    const charged = this.#requests?.getStore();
    const decision = charged?.key === key ? charged.decision : undefined;
    await limiter.refund({ [policy]: key }, { decision });
  }

  async get(key: string): Promise<ClientCount | undefined> {
    const { limiter, policy } = this.#opened();
    const decision = await limiter.peek({ [policy]: key });
    const totalHits = spentOf(decision, limiter);
    return totalHits === 0 ? undefined : { totalHits, resetTime: after(decision.resetAfterMs) };
  }

  async resetKey(key: string): Promise<void> {
    const { limiter, policy } = this.#opened();
    await resetOrWarn(this, () => limiter.reset({ [policy]: key }));
  }

  async resetAll(): Promise<void> {
    const { limiter, policy, close } = this.#opened();
    if (!this.localKeys) {
      throw invalidType(
        'store',
        'left out for resetAll: a store that is shared cannot be emptied of one policy. Delete its keys there, or give the policy another name',
        this.#options.store ?? limiter,
      );
    }
    const { limit, windowMs } = limiter.policies.get(policy) as { limit: number; windowMs: number };
    this.#source = this.#open(limit, windowMs);
    await close();
  }

  async shutdown(): Promise<void> {
    await this.#source?.close();
  }

  #opened(): Source {
    if (this.#fault !== undefined) throw this.#fault;
    if (this.#source === undefined) {
      const expected = "given, as init(), which tells the middleware's, was not called";
      throw invalidType('limit', expected, this.#options.limit);
    }
    return this.#source;
  }

  #open(limit: number, window: number | string): Source {
    const options = this.#options as ExpressPolicyInPlace;
    const { burst, shards } = options;
    return ownSource(options, NAME, { limit, window, burst, shards });
  }

  /** The policy, once the middleware's own values are known; refuses what would contradict them. */
  #agree({ windowMs, limit }: MiddlewareTerms): Source {
    const { limit: ours, window } = this.#options;
    const known = this.#source;
    const policy = known?.limiter.policies.get(known.policy);
    const ourLimit = policy?.limit ?? ours;
    const ourWindowMs =
      policy?.windowMs ?? (window === undefined ? undefined : parseDuration('window', window));
    if (ourWindowMs !== undefined && ourWindowMs !== windowMs) {
      throw invalidValue('window', `${windowMs} ms, the windowMs of the middleware`, ourWindowMs);
    }
    this.#limitVaries = typeof limit !== 'number';
    if (limit === 0 || this.#limitVaries) {
      const why = this.#limitVaries
        ? 'a function: the largest that it gives'
        : '0, as that of express-slow-down always is';
      const expected = `given where the limit of the middleware is ${why}`;
      if (ourLimit === undefined) throw invalidType('limit', expected, undefined);
    } else if (ourLimit !== undefined && ourLimit !== limit) {
      throw invalidValue('limit', `${limit}, the limit of the middleware`, ourLimit);
    }
    const source = known ?? this.#open(ourLimit ?? (limit as number), windowMs);
    const algorithm = source.limiter.policies.get(source.policy)?.algorithm ?? '';
    if (this.#limitVaries && !WINDOWS.includes(algorithm)) {
      const expected = `one of ${WINDOWS.join(', ')} where the limit of the middleware is a function`;
      void source.close();
      throw invalidValue('algorithm', expected, algorithm);
    }
    return source;
  }
}

/**
 * A store for express-rate-limit, and for hono-rate-limiter and express-slow-down, which have the
 * same: one for each of their middlewares. The middleware denies exactly what the policy denies.
 *
 * @throws TypeError or RangeError that names the option and shows the value. What contradicts the
 * middleware is thrown by `init`, which express-rate-limit logs, and again by every request
 */
export function toExpressRateLimitStore(
  options: ExpressRateLimitStoreOptions = {},
): ExpressRateLimitStore {
  return new LimiterStore(options);
}

function after(ms: number): Date {
  return new Date(Date.now() + ms);
}

import { checkInteger } from '../arith/integers.js';
import type { Decision } from '../decision/decision.js';
import { checkOptionNames, closed, invalidType, invalidValue, unknownPolicy } from '../errors.js';
import { type Policy, type PolicyOptions, parsePolicy } from '../policy/policy.js';
import { memoryStore } from '../store/memory/memory-store.js';
import type { Store } from '../store/store.js';
import { claimNames } from './policy-names.js';

export interface LimiterOptions<Name extends string = string> {
  /** At least one policy, by name. The name is part of what is stored: it identifies a quota. */
  policies: { readonly [N in Name]: PolicyOptions };
  /** Where buckets live. Default: a memory store of its own, exact for this process alone. */
  store?: Store | undefined;
}

/**
 * Whom a call is charged to: the name of one policy and the partition key, a text that is not
 * empty. `{ tenant: 't42' }`.
 */
export type Keys<Name extends string = string> = { readonly [N in Name]?: string };

export interface ConsumeOptions {
  /**
   * Permits the call costs: an integer, at least 0. Default 1. 0 only looks. More than the
   * policy's burst is denied without a wait, as it can never fit.
   */
  cost?: number | undefined;
}

/** Decides whether calls may go ahead. Made by `createLimiter`. */
export interface Limiter<Name extends string = string> {
  /** The policies after parsing, by name. */
  readonly policies: ReadonlyMap<string, Policy>;

  /**
   * The decision where it can be made at once, which charges the call; undefined, with nothing
   * charged, where only the store can tell: then call `consume`. Makes no promise, no network
   * call, no timer.
   * @throws TypeError or RangeError on a key, cost or policy name that cannot be used
   */
  tryConsume(keys: Keys<Name>, options?: ConsumeOptions): Decision | undefined;

  /**
   * Decides and charges the call. A denial is a decision, not an error, and charges nothing.
   * Rejects as `tryConsume` throws, and with `RL_STORE_FAILED` where the store cannot answer.
   */
  consume(keys: Keys<Name>, options?: ConsumeOptions): Promise<Decision>;

  /** What a call of cost 1 would find, charging nothing: always `allowed`, see `remaining`. */
  peek(keys: Keys<Name>): Promise<Decision>;

  /**
   * Puts back what a call was charged that did not happen. Never above a full bucket, so a refund
   * that comes late or twice cannot make more permits than the policy has. Resolves to what `peek`
   * would find then.
   */
  refund(keys: Keys<Name>, options?: ConsumeOptions): Promise<Decision>;

  /** Forgets what was charged to this key: the next call finds a full bucket. */
  reset(keys: Keys<Name>): Promise<void>;

  /**
   * Ends the limiter, and its store where it made that itself; a store that was passed in stays
   * open for others. Idempotent. Calls made before it are still answered, later ones reject.
   */
  close(): Promise<void>;
}

class PolicyLimiter<Name extends string> implements Limiter<Name> {
  readonly policies: ReadonlyMap<string, Policy>;
  readonly #store: Store;
  readonly #ownsStore: boolean;
  readonly #releaseNames: () => void;
  #closed = false;

  constructor(options: LimiterOptions<Name>) {
    if (typeof options !== 'object' || options === null) {
      throw invalidType('options', 'an object with policies', options);
    }
    checkOptionNames('', options, ['policies', 'store']);
    this.policies = parsePolicies(options.policies);
    checkStore(options.store);
    this.#ownsStore = options.store === undefined;
    this.#store = options.store ?? memoryStore();
    this.#releaseNames = claimNames(this.#store, this.policies);
  }

  tryConsume(keys: Keys<Name>, options?: ConsumeOptions): Decision | undefined {
    const { policy, key } = this.#resolve(keys);
    return this.#store.tryConsume(policy, key, costOf(options));
  }

  // Not async: that would wrap the store's promise in another.
  consume(keys: Keys<Name>, options?: ConsumeOptions): Promise<Decision> {
    try {
      const { policy, key } = this.#resolve(keys);
      const cost = costOf(options);
      const decision = this.#store.tryConsume(policy, key, cost);
      return decision ? Promise.resolve(decision) : this.#store.consume(policy, key, cost);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  peek(keys: Keys<Name>): Promise<Decision> {
    return this.consume(keys, { cost: 0 });
  }

  async refund(keys: Keys<Name>, options?: ConsumeOptions): Promise<Decision> {
    const { policy, key } = this.#resolve(keys);
    return this.#store.refund(policy, key, costOf(options));
  }

  async reset(keys: Keys<Name>): Promise<void> {
    const { policy, key } = this.#resolve(keys);
    await this.#store.reset(policy, key);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#releaseNames();
    if (this.#ownsStore) await this.#store.close();
  }

  /** The one policy that `keys` names, and its partition key. */
  #resolve(keys: Keys<Name>): { policy: Policy; key: string } {
    if (this.#closed) throw closed('limiter');
    let policy: Policy | undefined;
    let key: string | undefined;
    for (const name in keys) {
      const named = this.policies.get(name);
      if (named === undefined || policy !== undefined) throw this.#wrongKeys(keys);
      policy = named;
      key = keys[name];
    }
    if (policy === undefined || typeof keys !== 'object') throw this.#wrongKeys(keys);
    if (typeof key !== 'string' || key === '') throw wrongKey(policy, key);
    return { policy, key };
  }

  /** What is wrong with keys that do not name one policy. Apart, to keep the way past it short. */
  #wrongKeys(keys: Keys<Name>): Error {
    if (typeof keys !== 'object' || keys === null) {
      return invalidType('keys', 'an object { policyName: partitionKey }', keys);
    }
    const names = Object.keys(keys);
    const unknown = names.find((name) => !this.policies.has(name));
    if (unknown !== undefined) return unknownPolicy(unknown, this.policies.keys());
    return invalidValue('keys', 'one policy and its key', names.join(', ') || '{}');
  }
}

function wrongKey(policy: Policy, key: unknown): Error {
  const refuse = typeof key === 'string' ? invalidValue : invalidType;
  return refuse(`keys.${policy.name}`, 'a text that is not empty', key);
}

function costOf(options: ConsumeOptions | undefined): number {
  const cost = options?.cost;
  return cost === undefined ? 1 : checkInteger('cost', cost, 0);
}

function parsePolicies(policies: unknown): ReadonlyMap<string, Policy> {
  if (typeof policies !== 'object' || policies === null || Array.isArray(policies)) {
    throw invalidType('policies', 'an object { name: { limit, window } }', policies);
  }
  const parsed = new Map<string, Policy>();
  for (const [name, options] of Object.entries(policies)) {
    parsed.set(name, parsePolicy(name, options as PolicyOptions, `policies.${name}`));
  }
  if (parsed.size === 0) throw invalidValue('policies', 'at least one policy', '{}');
  return parsed;
}

function checkStore(store: unknown): void {
  const methods = ['tryConsume', 'consume', 'refund', 'reset', 'close'];
  const found = typeof store === 'object' && store !== null ? store : {};
  if (store === undefined || methods.every((name) => name in found)) return;
  throw invalidType('store', 'a store such as memoryStore() or redisStore(client)', store);
}

/**
 * A limiter over one or more policies.
 *
 * @throws TypeError or RangeError that names the field and shows the value, for every option that
 * cannot be used
 */
export function createLimiter<const Name extends string>(
  options: LimiterOptions<Name>,
): Limiter<Name> {
  return new PolicyLimiter(options);
}

import { checkInteger } from '../arith/integers.js';
import type { Decision } from '../decision/decision.js';
import { checkOptionNames, closed, invalidType, invalidValue, unknownPolicy } from '../errors.js';
import { Fallback } from '../fallback/fallback.js';
import { parseFallback } from '../fallback/options.js';
import { LeaseBook } from '../lease/lease-book.js';
import { CHECK, type CheckContext } from '../metrics/channels.js';
import { DecisionObserver } from '../metrics/decision-observer.js';
import type { LimiterMetrics } from '../metrics/limiter-metrics.js';
import { StoreWatcher } from '../metrics/store-watcher.js';
import type { TopKeys } from '../metrics/top-keys.js';
import type { Policy } from '../policy/policy.js';
import { memoryStore } from '../store/memory/memory-store.js';
import type { Charge, Store } from '../store/store.js';
import { monotonicClock } from '../time/clock.js';
import type {
  ConsumeOptions,
  Keys,
  Limiter,
  LimiterOptions,
  PerPolicy,
  RefundOptions,
  SettleOptions,
  StoreHealth,
  TopOptions,
} from './contract.js';
import { Explainer } from './explainer.js';
import type { Explanation } from './explanation.js';
import { parseTopCount, parseTopKeys } from './metrics-options.js';
import { PolicyBook, type PolicyChange } from './policy-book.js';
import { useNames } from './policy-names.js';
import { strictest } from './strictest.js';

export type {
  ConsumeOptions,
  Keys,
  Limiter,
  LimiterOptions,
  MetricsOptions,
  PerPolicy,
  PolicyChanges,
  RefundOptions,
  SettleOptions,
  StoreHealth,
  TopOptions,
} from './contract.js';

class PolicyLimiter<Name extends string> implements Limiter<Name> {
  readonly #book: PolicyBook;
  readonly #store: Store;
  /** What is decided here, where the store is elsewhere. */
  readonly #leases: LeaseBook;
  /** What decides where the store does not answer. */
  readonly #fallback: Fallback;
  /** Undefined where nothing is noted. */
  readonly #observer: DecisionObserver | undefined;
  readonly #watcher = new StoreWatcher(this);
  readonly #explainer: Explainer;
  readonly #ownsStore: boolean;
  readonly #releaseNames: () => void;
  #closed = false;
  #closing: Promise<void> | undefined;

  constructor(options: LimiterOptions<Name>) {
    if (typeof options !== 'object' || options === null) {
      throw invalidType('options', 'an object with policies', options);
    }
    checkOptionNames('', options, ['policies', 'store', 'fallback', 'metrics', 'clock']);
    this.#book = new PolicyBook(options.policies);
    const terms = parseFallback(options.fallback, options.store?.waitMs);
    checkStore(options.store);
    this.#ownsStore = options.store === undefined;
    this.#store = options.store ?? memoryStore();
    if (options.clock !== undefined && typeof options.clock?.nowMs !== 'function') {
      throw invalidType('clock', 'an object with nowMs()', options.clock);
    }
    const clock = options.clock ?? this.#store.clock ?? monotonicClock;
    const topKeys = parseTopKeys(options.metrics);
    const policies = [...this.#book.policies.values()];
    this.#observer =
      topKeys === undefined ? undefined : new DecisionObserver(this, policies, topKeys, clock);
    this.#fallback = new Fallback(
      this.#store,
      clock,
      terms,
      policies,
      this.#watcher,
      (charges, decisions) => this.#observer?.allDecided(charges, decisions),
      ({ policy, key, cost }, takenAtMs) => this.#leases.refund(policy, key, cost, takenAtMs),
    );
    this.#leases = new LeaseBook(this.#store, clock, this.#fallback, this.#watcher);
    this.#explainer = new Explainer(this.#store, this.#fallback, this.#leases, this.#observer);
    this.#releaseNames = useNames(this.#store, this.#book.policies);
  }

  get policies(): ReadonlyMap<string, Policy> {
    return this.#book.policies;
  }

  tryConsume(keys: Keys<Name>, options?: ConsumeOptions<Name>): Decision | undefined {
    const charge = this.#chargesOf(keys, options);
    return isList(charge) ? this.#tryAll(charge) : this.#tryOne(charge);
  }

  // Not async: that would wrap the store's promise in another.
  consume(keys: Keys<Name>, options?: ConsumeOptions<Name>): Promise<Decision> {
    try {
      const charge = this.#chargesOf(keys, options);
      if (isList(charge)) return this.#consumeAll(charge);
      const decision = this.#tryOne(charge);
      if (decision !== undefined) return Promise.resolve(decision);
      return CHECK.hasSubscribers
        ? this.#trace([charge], () => this.#askOne(charge))
        : this.#askOne(charge);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  peek(keys: Keys<Name>, options?: Pick<ConsumeOptions<Name>, 'policies'>): Promise<Decision> {
    return this.consume(keys, { ...options, cost: 0 });
  }

  async refund(keys: Keys<Name>, options?: RefundOptions<Name>): Promise<Decision> {
    const charges = this.#listOf(keys, options);
    const { decision } = options ?? {};
    const decisions = charges.map(({ policy, key, cost }) =>
      this.#giveBack(policy, key, cost, decision),
    );
    return summary(await Promise.all(decisions), charges);
  }

  async settle(keys: Keys<Name>, options: SettleOptions<Name>): Promise<Decision> {
    const { estimate, ...others } = checkSettle(options);
    const charges = this.#listOf(keys, others);
    const decisions = charges.map(({ policy, key, cost }) => {
      const estimated = costOf(estimate, policy.name, 'estimate');
      if (cost < estimated) return this.#giveBack(policy, key, estimated - cost, options.decision);
      return this.#overcharge({ policy, key, cost: cost - estimated });
    });
    return summary(await Promise.all(decisions), charges);
  }

  /** What a decision says it did not take, on a denial or of a shadow policy, does not come back. */
  #giveBack(
    policy: Policy,
    key: string,
    permits: number,
    decision: Decision | undefined,
  ): Promise<Decision> {
    const own = decision?.each?.find((one) => one.policy === policy.name) ?? decision;
    const taken = decision === undefined || (decision.allowed && own?.wouldDeny === false);
    const cost = taken ? permits : 0;
    return this.#fallback.refund({ policy, key, cost }, own, () =>
      this.#leases.refund(policy, key, cost, own?.decidedAtMs),
    );
  }

  async #overcharge(charge: Charge): Promise<Decision> {
    const { policy, key, cost } = charge;
    const ask = () => this.#store.overcharge(policy, key, cost);
    const decision = await this.#fallback.overcharge(charge, ask);
    this.#leases.changed(policy, key);
    return decision;
  }

  async reset(keys: Keys<Name>): Promise<void> {
    const charges = this.#listOf(keys, undefined);
    const reset = async ({ policy, key }: Charge) => {
      await this.#fallback.within({ policy, key }, () => this.#store.reset(policy, key));
      this.#leases.reset(policy, key);
      this.#fallback.reset(policy, key);
    };
    await Promise.all(charges.map(reset));
  }

  health(): StoreHealth {
    const { state, places, replicas, owed, forgotten } = this.#fallback;
    const { unreplicated } = this.#store;
    return {
      store: state,
      replicas,
      owed,
      forgotten,
      ...(places && { places }),
      ...(unreplicated !== undefined && { unreplicated }),
    };
  }

  metrics(): LimiterMetrics {
    return {
      decisions: this.#observer?.counts() ?? [],
      storeLatency: this.#watcher.latency.read(),
      storeErrors: this.#watcher.errors,
      leases: this.#leases.metrics,
      rememberedDenials: this.#leases.rememberedDenials,
      shared: this.#store.metrics,
    };
  }

  top(options?: TopOptions): readonly TopKeys[] {
    const count = parseTopCount(options);
    return this.#observer?.top(count) ?? [];
  }

  async explain(keys: Keys<Name>, options?: ConsumeOptions<Name>): Promise<Explanation> {
    return this.#explainer.explain(this.#listOf(keys, options));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#closed = true;
    this.#releaseNames();
    await this.#leases.close();
    await this.#fallback.close();
    if (this.#ownsStore) await this.#store.close();
  }

  async #consumeAll(charges: readonly Charge[]): Promise<Decision> {
    const decision = this.#tryAll(charges);
    if (decision !== undefined) return decision;
    return CHECK.hasSubscribers
      ? this.#trace(charges, () => this.#askAll(charges))
      : this.#askAll(charges);
  }

  #askOne(charge: Charge): Promise<Decision> {
    const { policy, key, cost } = charge;
    return this.#fallback.guardOne(charge, () => this.#leases.consume(policy, key, cost));
  }

  async #askAll(charges: readonly Charge[]): Promise<Decision> {
    const ask = () => this.#leases.consumeAll(charges);
    return strictest(await this.#fallback.guardAll(charges, ask), charges);
  }

  #trace(charges: readonly Charge[], ask: () => Promise<Decision>): Promise<Decision> {
    const policies = charges.map(({ policy }) => policy.name);
    const context: CheckContext = { limiter: this, policies };
    return CHECK.tracePromise(ask, context);
  }

  #tryOne(charge: Charge): Decision | undefined {
    const { policy, key, cost } = charge;
    const decision =
      this.#store.tryConsume(policy, key, cost) ??
      this.#leases.tryConsume(policy, key, cost) ??
      (this.#fallback.mayAsk(key) ? undefined : this.#fallback.tryDecide([charge])?.[0]);
    if (decision !== undefined && this.#observer !== undefined) {
      this.#observer.decided(charge, decision);
    }
    return decision;
  }

  #tryAll(charges: readonly Charge[]): Decision | undefined {
    const decisions =
      this.#store.tryConsumeAll(charges) ??
      this.#leases.tryConsumeAll(charges) ??
      this.#fallback.tryDecide(charges);
    if (decisions === undefined) return undefined;
    this.#observer?.allDecided(charges, decisions);
    return strictest(decisions, charges);
  }

  #listOf(keys: Keys<Name>, options: ConsumeOptions<Name> | undefined): readonly Charge[] {
    const charge = this.#chargesOf(keys, options);
    return isList(charge) ? charge : [charge];
  }

  /** What the call is charged: one charge, or a list where it falls under several policies. */
  #chargesOf(
    keys: Keys<Name>,
    options: ConsumeOptions<Name> | undefined,
  ): Charge | readonly Charge[] {
    if (this.#closed) throw closed('limiter');
    if (options !== undefined && options.cost === undefined) checkOptions(options);
    let first: Charge | undefined;
    let list: Charge[] | undefined;
    for (const name in keys) {
      const policy = this.#book.policies.get(name);
      const key = keys[name];
      if (policy === undefined || typeof keys !== 'object') throw this.#wrongKeys(keys);
      if (typeof key !== 'string' || key === '') throw wrongKey(policy, key);
      const charge =
        options === undefined
          ? { policy, key, cost: 1 }
          : { policy: this.#policyOf(policy, options), key, cost: costOf(options.cost, name) };
      if (first === undefined) first = charge;
      else if (list === undefined) list = [first, charge];
      else list.push(charge);
    }
    if (first === undefined) throw this.#wrongKeys(keys);
    if (options !== undefined) this.#checkNames(options);
    return list ?? first;
  }

  /** A misspelt name must not mean that nothing is changed, or a cost of 1. */
  #checkNames({ cost, policies }: ConsumeOptions<Name>): void {
    if (typeof cost === 'object') this.#checkNamed('cost', cost);
    if (policies !== undefined) this.#checkNamed('policies', policies);
  }

  #checkNamed(field: string, values: unknown): void {
    if (typeof values !== 'object' || values === null) {
      throw invalidType(field, 'an object by policy name', values);
    }
    const unknown = Object.keys(values).find((name) => !this.#book.policies.has(name));
    if (unknown !== undefined) throw unknownPolicy(unknown, this.#book.policies.keys(), field);
  }

  #policyOf(policy: Policy, { policies }: ConsumeOptions<Name>): Policy {
    if (policies === undefined || policies === null) return policy;
    const change = (policies as Record<string, PolicyChange | undefined>)[policy.name];
    return change === undefined ? policy : this.#book.changed(policy, change);
  }

  /** What is wrong with keys that name no policy. Apart, to keep the way past it short. */
  #wrongKeys(keys: Keys<Name>): Error {
    if (typeof keys !== 'object' || keys === null) {
      return invalidType('keys', 'an object { policyName: partitionKey }', keys);
    }
    const unknown = Object.keys(keys).find((name) => !this.#book.policies.has(name));
    if (unknown !== undefined) return unknownPolicy(unknown, this.#book.policies.keys());
    return invalidValue('keys', 'a policy and its key, or several', '{}');
  }
}

/** A misspelt option must not mean a cost of 1. With a cost there is no need to look: it is fast. */
function checkOptions(options: unknown): void {
  if (typeof options !== 'object' || options === null) {
    throw invalidType('options', 'an object such as { cost: 1 }', options);
  }
  checkOptionNames('', options, ['cost', 'policies', 'decision']);
}

function isList(charge: Charge | readonly Charge[]): charge is readonly Charge[] {
  return Array.isArray(charge);
}

function summary(decisions: readonly Decision[], charges: readonly Charge[]): Decision {
  return decisions.length === 1 ? (decisions[0] as Decision) : strictest(decisions, charges);
}

function wrongKey(policy: Policy, key: unknown): Error {
  const refuse = typeof key === 'string' ? invalidValue : invalidType;
  return refuse(`keys.${policy.name}`, 'a text that is not empty', key);
}

/** The cost for one policy; 1 where it is not said. */
function costOf(cost: PerPolicy<number> | undefined, name: string, field = 'cost'): number {
  if (cost === undefined) return 1;
  if (typeof cost !== 'object' || cost === null) return checkInteger(field, cost, 0);
  const own = cost[name];
  return own === undefined ? 1 : checkInteger(`${field}.${name}`, own, 0);
}

function checkSettle<Name extends string>(options: SettleOptions<Name>): SettleOptions<Name> {
  if (typeof options !== 'object' || options === null) {
    throw invalidType('options', 'an object with estimate and cost', options);
  }
  for (const field of ['estimate', 'cost'] as const) {
    if (options[field] === undefined) {
      throw invalidType(field, 'an integer of at least 0', options[field]);
    }
  }
  return options;
}

function checkStore(store: unknown): void {
  const methods = [
    'tryConsume',
    'consume',
    'tryConsumeAll',
    'consumeAll',
    'refund',
    'overcharge',
    'claim',
  ];
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

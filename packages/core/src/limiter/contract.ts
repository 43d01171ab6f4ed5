import type { Decision } from '../decision/decision.js';
import type { StoreState } from '../fallback/breaker.js';
import type { FallbackOptions } from '../fallback/options.js';
import type { LimiterMetrics } from '../metrics/limiter-metrics.js';
import type { TopKeys } from '../metrics/top-keys.js';
import type { FallbackMode } from '../policy/fallback-mode.js';
import type { Policy, PolicyOptions } from '../policy/policy.js';
import type { Store } from '../store/store.js';
import type { Clock } from '../time/clock.js';
import type { Explanation } from './explanation.js';
import type { PolicyChange } from './policy-book.js';

export interface LimiterOptions<Name extends string = string> {
  /** At least one policy, by name. The name is part of what is stored: it identifies a quota. */
  policies: { readonly [N in Name]: PolicyOptions };
  /** Where buckets live. Default: a memory store of its own, exact for this process alone. */
  store?: Store | undefined;
  /**
   * What becomes of calls while the store cannot answer, and how long they wait for it. A mode stands
   * for the options with that mode. Means nothing for a store in memory. Default `"local"`.
   */
  fallback?: FallbackMode | FallbackOptions | undefined;
  /**
   * What is noted of its decisions, for `metrics`, `top` and `explain`. True counts them and keeps 50 keys
   * of each policy; false notes nothing of them. Default true.
   */
  metrics?: boolean | MetricsOptions | undefined;
  /** For tests. Default: the store's, where it has one, else this process's monotonic clock. */
  clock?: Clock | undefined;
}

export interface MetricsOptions {
  /**
   * How many keys are kept of each policy, of the most denied and of the busiest, for each of the last two
   * spans of five minutes: an integer from 0 to 1000. A key is a client: 0 keeps none. Default 50.
   */
  topKeys?: number | undefined;
}

/**
 * Whom a call is charged to: the name of each policy it falls under, and the partition key there, a
 * text that is not empty. `{ tenant: 't42', search: 't42' }`.
 */
export type Keys<Name extends string = string> = { readonly [N in Name]?: string };

/** Something for every policy of a call, or for each by name. */
export type PerPolicy<Value, Name extends string = string> =
  | Value
  | { readonly [N in Name]?: Value | undefined };

/** What a call puts in place of policies' values, by name. What it leaves out stays. */
export type PolicyChanges<Name extends string = string> = {
  readonly [N in Name]?: PolicyChange | undefined;
};

export interface ConsumeOptions<Name extends string = string> {
  /**
   * Permits the call costs: an integer, at least 0, for all its policies or for each by name.
   * Default 1. 0 only looks. More than a policy's burst is denied without a wait, as it can never
   * fit.
   */
  cost?: PerPolicy<number, Name> | undefined;
  /**
   * Other values for this call's policies: its client's tier. The bucket stays the same, and keeps
   * of its state what fits the new values.
   */
  policies?: PolicyChanges<Name> | undefined;
}

export interface RefundOptions<Name extends string = string> extends ConsumeOptions<Name> {
  /**
   * The decision that took the permits. With it, permits of a window that is over do not come back
   * into a later one; without, they are taken to be of the present one.
   */
  decision?: Decision | undefined;
}

export interface SettleOptions<Name extends string = string> extends RefundOptions<Name> {
  /** Permits that were consumed when the true cost was not known: an integer, at least 0. */
  estimate: PerPolicy<number, Name>;
  /** The true cost: an integer, at least 0. */
  cost: PerPolicy<number, Name>;
}

export interface TopOptions {
  /** Most keys of each kind: an integer from 1 to 1000. Default 10. */
  count?: number | undefined;
}

/** How it stands with a limiter's store, as far as its own calls have shown. */
export interface StoreHealth {
  /**
   * `up`: it is asked. `lost`: it does not answer, and is tried in the background. `returning`: it
   * answers again, and is charged what was admitted without it. A store in memory is always up. Of
   * one that has places it is the worst that any of them is: `lost`, then `returning`.
   */
  readonly store: StoreState;
  /**
   * Where parts of the store can fail each by itself, such as the nodes of a Redis Cluster: how it
   * stands with each that this limiter has asked lately, by name. Left out where the store is one.
   */
  readonly places?: Readonly<Record<string, StoreState>>;
  /** Among how many replicas the quota is divided while it is not up. */
  readonly replicas: number;
  /** Buckets that it is yet to be charged for. */
  readonly owed: number;
  /** Permits that it cannot be charged for, as too many buckets were owed to. It only rises. */
  readonly forgotten: number;
  /**
   * Answers of the store that were told though fewer Redis replicas had them than its `durability`
   * asks for: of all limiters on it. It only rises. Left out where none is asked for.
   */
  readonly unreplicated?: number;
}

/** Decides whether calls may go ahead. Made by `createLimiter`. */
export interface Limiter<Name extends string = string> {
  /** The policies after parsing, by name. */
  readonly policies: ReadonlyMap<string, Policy>;

  /**
   * The decision where it can be made at once, which charges the call; undefined, with nothing
   * charged, where only the store can tell: then call `consume`. Makes no promise, no network
   * call, no timer.
   * @throws TypeError or RangeError on a key, cost or policy that cannot be used
   */
  tryConsume(keys: Keys<Name>, options?: ConsumeOptions<Name>): Decision | undefined;

  /**
   * Decides and charges the call: under several policies to all, or to none where one denies. A
   * denial is a decision, not an error, and charges nothing.
   * Where the store does not answer by the deadline, the fallback decides. Rejects as `tryConsume`
   * throws.
   */
  consume(keys: Keys<Name>, options?: ConsumeOptions<Name>): Promise<Decision>;

  /** What is there, charging nothing: always `allowed`, see `remaining`. */
  peek(keys: Keys<Name>, options?: Pick<ConsumeOptions<Name>, 'policies'>): Promise<Decision>;

  /**
   * Puts back what a call was charged that did not happen. Never above a full bucket, so a refund
   * that comes late or twice cannot make more permits than the policy has. Resolves to what `peek`
   * would find then; where the store does not answer, to what is known here: it may have heard, and
   * is told later where it could not be asked.
   */
  refund(keys: Keys<Name>, options?: RefundOptions<Name>): Promise<Decision>;

  /**
   * Charges the true cost of a call that was admitted by an estimate. What the estimate was short
   * of is taken whether it fits or not, down to the policy's `overdraft` below zero, and later
   * calls wait for it; what it was too much comes back. Resolves to what `peek` would find then.
   */
  settle(keys: Keys<Name>, options: SettleOptions<Name>): Promise<Decision>;

  /**
   * Forgets what was charged to these keys: the next call finds full buckets. Rejects with
   * `RL_STORE_FAILED` where the store does not answer by the deadline; it may have heard.
   */
  reset(keys: Keys<Name>): Promise<void>;

  /** How it stands with the store. Asks nothing of it. */
  health(): StoreHealth;

  /**
   * What monitoring reads: counts of this replica, which only rise, and how it stands. How many there
   * are depends on policies and key classes, and on nothing that clients send. Asks nothing of the store.
   */
  metrics(): LimiterMetrics;

  /**
   * Who is denied most and who asks most, by policy, as this replica saw it in the last five to ten
   * minutes. Asks nothing of the store.
   * @throws TypeError or RangeError where `count` is no integer from 1 to 1000
   */
  top(options?: TopOptions): readonly TopKeys[];

  /**
   * How it stands with these keys, and why: the policy in force, what is left, when a call would fit, what
   * leases hold, the last denials. Reads the store and changes nothing. Rejects as `tryConsume` throws;
   * where the store does not answer it tells what the fallback knows.
   */
  explain(keys: Keys<Name>, options?: ConsumeOptions<Name>): Promise<Explanation>;

  /**
   * Ends the limiter, and its store where it made that itself; a store that was passed in stays
   * open for others. Idempotent. Calls made before it are still answered, later ones reject.
   */
  close(): Promise<void>;
}

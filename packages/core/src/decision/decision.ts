import type { StoreFault } from '../errors.js';

/**
 * Who answered: the shared store; a lease; this replica's own memory, be it a store in memory or a
 * denial by the shared store that still holds; or the fallback.
 */
export type Origin = 'store' | 'lease' | 'memory' | 'fallback';

/** How a call was decided that the store had no part in. */
export interface WithoutStore {
  /** The policy's mode: see `PolicyOptions.fallback`; or `region`: by a region's fixed share. */
  readonly mode: 'local' | 'open' | 'closed' | 'region';
  /** Why the store was not asked, or did not answer. */
  readonly fault: StoreFault;
}

interface DecisionFacts {
  /** Name of the policy that decided. */
  readonly policy: string;
  /** The policy's limit, in permits per window. */
  readonly limit: number;
  /** The policy's window. */
  readonly windowMs: number;
  /**
   * Whole permits left at the moment of the decision, at least 0. A hint: others may spend them
   * before the next call.
   */
  readonly remaining: number;
  /** Time until `remaining` has grown by one permit. Undefined when the bucket is full. */
  readonly refillAfterMs: number | undefined;
  /** Time until the bucket is full if nobody spends; 0 when it is. */
  readonly resetAfterMs: number;
  readonly origin: Origin;
  /** Where `origin` is `fallback`: how, and why. Undefined otherwise. */
  readonly fallback: WithoutStore | undefined;
  /** True where a shadow policy would have denied the call, which was not charged to it then. */
  readonly wouldDeny: boolean;
  /**
   * The store's clock at the decision. It means nothing here: hand the decision to `refund` or
   * `settle`, so that what comes back goes to the window it was taken from.
   */
  readonly decidedAtMs: number;
  /**
   * With several policies: the decision of each, in the order of the keys. This one is then the
   * strictest of them. Where a denial that is remembered decided, those that were not looked at are
   * left out. Undefined where there was one policy.
   */
  readonly each: readonly Decision[] | undefined;
}

/** The call may go ahead; its cost has been charged. */
export interface Allowed extends DecisionFacts {
  readonly allowed: true;
  readonly retryAfterMs: undefined;
}

/** The call must not go ahead; nothing has been charged. */
export interface Denied extends DecisionFacts {
  readonly allowed: false;
  /**
   * Asking again after exactly this time succeeds if nobody else spends meanwhile; a millisecond
   * earlier it does not, but for policies with shards, which may tell a longer time than needed.
   * Undefined where the cost is above the burst, so that it can never fit.
   */
  readonly retryAfterMs: number | undefined;
}

/** The answer to one check. Durations are whole milliseconds, rounded up. */
export type Decision = Allowed | Denied;

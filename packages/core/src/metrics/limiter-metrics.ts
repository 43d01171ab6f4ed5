import type { Origin } from '../decision/decision.js';
import type { StoreFault } from '../errors.js';
import type { HistogramReading } from './histogram.js';
import type { StoreMetrics } from './store-metrics.js';

/**
 * What became of a call under one policy: it went ahead; it was denied; it went ahead though a policy
 * that only watches would have denied it. `fallback_`: so it was decided without the store.
 */
export const OUTCOMES = [
  'allowed',
  'denied',
  'shadow_denied',
  'fallback_allowed',
  'fallback_denied',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** How many calls were decided in one way. */
export interface DecisionCount {
  readonly policy: string;
  /** As of `PolicyOptions.keyClass`. */
  readonly keyClass: string;
  readonly outcome: Outcome;
  readonly origin: Origin;
  /** It only rises. */
  readonly count: number;
}

/** What a limiter's leases have come to. Counts only rise. */
export interface LeaseMetrics {
  /** Questions to the store that asked for permits or told of them. */
  readonly claims: number;
  /** Permits the store has granted in advance. */
  readonly granted: number;
  /** Permits given back to it unspent. */
  readonly returned: number;
  /** Permits of which it may not have heard what became of them: it counts them as spent. */
  readonly writtenOff: number;
  /** Buckets that this replica keeps leases or demand of, at present. */
  readonly buckets: number;
}

/** How it stands with one limiter of one replica, in numbers: what monitoring reads. */
export interface LimiterMetrics {
  /**
   * For each policy and key class the ways in which a call can be decided, also those that have not
   * occurred: so how many there are does not depend on what clients send. A call under several
   * policies counts once for each; where it was denied, only for those that denied it or would have.
   * Calls of cost 0 do not count.
   */
  readonly decisions: readonly DecisionCount[];
  /** How long the store took to answer each call that waited for it, and each claim in advance. In seconds. */
  readonly storeLatency: HistogramReading;
  /** Questions that the store did not answer, by why. They only rise. */
  readonly storeErrors: Readonly<Record<StoreFault, number>>;
  readonly leases: LeaseMetrics;
  /** Denials that are remembered at present, so that calls alike are denied without the store. */
  readonly rememberedDenials: number;
  /**
   * What the store counts for all limiters on it: the same object for each of them. Undefined where it
   * counts nothing.
   */
  readonly shared: StoreMetrics | undefined;
}

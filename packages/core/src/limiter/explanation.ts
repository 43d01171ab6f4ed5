import type { Decision } from '../decision/decision.js';
import type { DenialNote } from '../metrics/top-keys.js';
import type { Policy } from '../policy/policy.js';

/** How it stands with one key under one policy: the answer to "is this client throttled, and why?" */
export interface PolicyExplanation {
  /** The policy in force, with the changes of the call. */
  readonly policy: Policy;
  readonly key: string;
  /** Whether a call of the cost asked about would go ahead now. */
  readonly fits: boolean;
  /**
   * After how many ms it would, if nobody else spends: 0 now; undefined where it never will. Where
   * permits are out on leases it may have to wait for those too, besides.
   */
  readonly fitsAfterMs: number | undefined;
  /** Whole permits in the bucket: below 0 after a settlement that took more than was there. */
  readonly level: number;
  /** What `peek` found: `remaining`, when it grows, where it came from, and how the store was missed. */
  readonly decision: Decision;
  /** Permits that this replica holds of it, in advance. */
  readonly held: number;
  /** Permits that all replicas hold of it by the store's books; undefined where that is not known. */
  readonly out: number | undefined;
  /** Denials this replica has noted lately: how many about, and the last of them, the latest first. */
  readonly denials: { readonly count: number; readonly last: readonly DenialNote[] };
}

/** The same for all policies that were asked about. */
export interface Explanation {
  readonly each: readonly PolicyExplanation[];
  /** Whether a call under all of them would go ahead now: those that only watch deny none. */
  readonly fits: boolean;
  /** After how many ms: the longest of them. Undefined where it never will. */
  readonly fitsAfterMs: number | undefined;
}

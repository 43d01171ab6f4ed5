import type { Origin } from '../decision/decision.js';

/** A partition key that is among those noted most often. */
export interface TopKey {
  readonly key: string;
  /**
   * About how many calls, over `TopKeys.coversMs`. Exact while the policy decides fewer than some
   * thousand calls a second and not more keys are about than are kept; else off by at most `error`, and
   * by what sampling leaves to chance.
   */
  readonly count: number;
  /** How much of the count may belong to keys that gave way to this one. */
  readonly error: number;
}

/** Who was denied most under one policy and who asked most, as this replica saw it. */
export interface TopKeys {
  readonly policy: string;
  /** The most denied, or those that would have been by a policy that only watches, most first. */
  readonly denied: readonly TopKey[];
  /** Those with most calls, denied or not, most first. */
  readonly busiest: readonly TopKey[];
  /** For how long back the counts go, in ms: the present five minutes, and the five before. */
  readonly coversMs: number;
}

/** The denials of one key within a second. */
export interface DenialNote {
  /** When the first of them was, by this process's idea of the time of day, in ms since 1970. */
  readonly atMs: number;
  /** About how many there were: as of `TopKey.count`. */
  readonly count: number;
  /** Of the last of them, and so are those below. */
  readonly cost: number;
  /** As of the decision; undefined where the cost can never fit. */
  readonly retryAfterMs: number | undefined;
  readonly origin: Origin;
  /** True where the policy only watches, so that the call went ahead. */
  readonly shadow: boolean;
}

import type { Decision } from '../decision/decision.js';
import type { Policy } from '../policy/policy.js';

/** What one call is charged to one bucket. */
export interface Charge {
  readonly policy: Policy;
  /** The partition key: a text that is not empty. */
  readonly key: string;
  /** Permits: an integer, at least 0. 0 only looks. */
  readonly cost: number;
}

/**
 * Where buckets live. Two stores that are given the same checks at the same times give the same
 * decisions, to the digit.
 *
 * A bucket is one policy name, one algorithm and one partition key; checks of one bucket are
 * decided one after the other in the order they were made, whoever makes them. The limiter hands in
 * checked arguments.
 *
 * What cannot be answered rejects with `RL_STORE_FAILED`.
 */
export interface Store {
  /**
   * Decides at once and charges, or returns undefined, having charged nothing, where only a round
   * trip can tell. Allocates no promise, starts no timer.
   */
  tryConsume(policy: Policy, key: string, cost: number): Decision | undefined;

  /**
   * Decides and charges. A denial charges nothing, nor does a shadow policy that would have denied,
   * and a cost of 0 never does.
   */
  consume(policy: Policy, key: string, cost: number): Promise<Decision>;

  /** As `tryConsume`, for several buckets as `consumeAll` has it. */
  tryConsumeAll(charges: readonly Charge[]): readonly Decision[] | undefined;

  /**
   * Decides several charges of one call, each of another bucket: all are charged, or none where one
   * is denied. Answers each charge by itself, in order: one that would have fitted is `allowed`
   * also where another was denied.
   */
  consumeAll(charges: readonly Charge[]): Promise<readonly Decision[]>;

  /**
   * Puts permits back, never above a full bucket, and answers as a cost of 0 would then.
   * @param takenAtMs `decidedAtMs` of the decision that took them: permits of a window that is over
   * do not come back. Undefined: they were taken just now
   */
  refund(
    policy: Policy,
    key: string,
    permits: number,
    takenAtMs: number | undefined,
  ): Promise<Decision>;

  /** Takes permits, fit or not, down to the policy's overdraft; answers as a cost of 0 would then. */
  overcharge(policy: Policy, key: string, permits: number): Promise<Decision>;

  /** Forgets the bucket: the next check finds it full. */
  reset(policy: Policy, key: string): Promise<void>;

  /**
   * Lets go of timers and memory. Idempotent. Checks made before it are still answered; later ones
   * reject with `RL_CLOSED`, and those that answer at once throw it.
   */
  close(): Promise<void>;
}

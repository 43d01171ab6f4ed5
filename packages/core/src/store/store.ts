import type { Decision } from '../decision/decision.js';
import type { Policy } from '../policy/policy.js';

/**
 * Where buckets live. Two stores that are given the same checks at the same times give the same
 * decisions, to the digit.
 *
 * A bucket is one policy name and one partition key; checks of one bucket are decided one after
 * the other in the order they were made, whoever makes them. The limiter hands in checked
 * arguments: `key` is a text that is not empty, `cost` an integer of at least 0.
 */
export interface Store {
  /**
   * Decides at once and charges, or returns undefined, having charged nothing, where only a round
   * trip can tell. Allocates no promise, starts no timer.
   */
  tryConsume(policy: Policy, key: string, cost: number): Decision | undefined;

  /**
   * Decides and charges. A denial charges nothing and a cost of 0 never does.
   * Rejects with `RL_STORE_FAILED` where the store cannot answer.
   */
  consume(policy: Policy, key: string, cost: number): Promise<Decision>;

  /**
   * Puts `cost` permits back, never above a full bucket, and answers as a cost of 0 would then.
   * Rejects with `RL_STORE_FAILED` where the store cannot answer.
   */
  refund(policy: Policy, key: string, cost: number): Promise<Decision>;

  /** Forgets the bucket: the next check finds it full. */
  reset(policy: Policy, key: string): Promise<void>;

  /** Lets go of timers and memory. Idempotent. Checks made before it are still answered. */
  close(): Promise<void>;
}

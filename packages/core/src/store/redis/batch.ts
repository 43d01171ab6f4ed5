import type { Policy } from '../../policy/policy.js';
import type { ScriptName } from './script.js';

/**
 * Most buckets of one call. A longer one would keep the server from its other clients, and this
 * process idle meanwhile: of several calls, one is settled while the server works on the next.
 */
export const MAX_KEYS = 128;

/** Most checks of one call, for the same reason: many of one bucket, each of another cost. */
export const MAX_CHECKS = 1024;

/** What goes out as one call of a script. */
export interface Call {
  /** The bucket keys, each once. */
  readonly keys: string[];
  /** ARGV, as the script's header has it. */
  readonly args: (string | number)[];
}

/** Checks that go out together and wait for one reply. */
export interface Batch {
  readonly script: ScriptName;
  /** True where it should go out now: more would make the call too long. */
  readonly isFull: boolean;

  /**
   * The call to make, once, when all checks are in.
   * @param keyOf makes the bucket key of a policy and a partition key
   */
  call(keyOf: (policy: Policy, partitionKey: string) => string): Call;

  /**
   * Answers every check from the script's reply.
   * @throws TypeError, having answered none, where the reply is not of its form
   */
  settle(reply: unknown): void;

  /** Rejects every check. */
  fail(error: Error): void;
}

import type { Policy } from '../../policy/policy.js';
import type { Check } from './checks-batch.js';
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
  /** How many buckets it has. */
  readonly keyCount: number;
  /** How many checks it has. */
  readonly size: number;

  /**
   * The call to make, once, when all checks are in.
   * @param keyOf makes the bucket key of a policy and a partition key
   */
  call(keyOf: (policy: Policy, partitionKey: string) => string): Call;

  /**
   * Reads the script's reply, for `tell`.
   * @returns how many of the answers changed a bucket
   * @throws TypeError where the reply is not of its form
   */
  read(reply: unknown): number;

  /** Answers every check, once the reply is read. */
  tell(): void;

  /**
   * The same checks in calls of one bucket each, in order; a question on several buckets, which no
   * such call can answer, as it is. To be sent in place of this one, where that has run nothing.
   */
  apart(): readonly (Batch | Check)[];

  /** Rejects every check. */
  fail(error: Error): void;
}

import type { RedisConnection } from '@rl/testkit';
import type { ReplicaAccount } from './account.js';

/** The first message to a replica. */
export interface ReplicaOrder {
  /** From 0 up. */
  readonly number: number;
  /** Of how many: it is ready when it has heard of all. */
  readonly replicas: number;
  /** Its own way to the server. */
  readonly connection: RedisConnection;
  /** Its calls follow from it and its number. */
  readonly seed: number;
  readonly callsPerSecond: number;
}

/**
 * The others, in this order: to keep account from now on; to end, as soon as its limiter asks the
 * store or after some seconds, and hand the account over.
 */
export type ReplicaCommand = 'begin' | 'end';

/** Its messages, in this order. */
export type ReplicaAnswer = 'ready' | ReplicaAccount;

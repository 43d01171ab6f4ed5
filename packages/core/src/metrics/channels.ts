import { channel, tracingChannel } from 'node:diagnostics_channel';
import type { Decision } from '../decision/decision.js';
import type { StoreFault } from '../errors.js';

/** What is published of each decision on `@rl/core:decision`. */
export interface DecisionMessage {
  /** The limiter, as the app has it. */
  readonly limiter: object;
  /** The partition key: for whoever subscribes to keep to himself. */
  readonly key: string;
  readonly cost: number;
  readonly keyClass: string;
  readonly decision: Decision;
}

/** What is published on `@rl/core:store` when the store has answered a question, or has not in time. */
export interface StoreAnswerMessage {
  readonly limiter: object;
  readonly durationS: number;
  /** Undefined where it answered. */
  readonly fault: StoreFault | undefined;
}

/** What the events of the tracing channel `@rl/core:check` have: one check that waits for the store. */
export interface CheckContext {
  readonly limiter: object;
  /** The policies that the call falls under. */
  readonly policies: readonly string[];
  /** The decision, in `asyncStart` and `asyncEnd`. */
  result?: Decision;
  /** Where it rejected. */
  error?: unknown;
}

/** Each decision under each policy, whoever made it; nothing is made for it while nobody listens. */
export const DECISION: ReturnType<typeof channel> = channel('@rl/core:decision');

export const STORE_ANSWER: ReturnType<typeof channel> = channel('@rl/core:store');

/** Around each check that waits for the store. */
export const CHECK: ReturnType<typeof tracingChannel> = tracingChannel('@rl/core:check');

import type { Decision } from '../decision/decision.js';
import type { Policy } from '../policy/policy.js';
import type { Claim } from '../store/store.js';

/** What a lease book goes by when it asks its store, and what it tells of that. */
export interface StoreWatch {
  /** An answer that takes longer is not waited for; it is heard all the same when it comes. */
  readonly answerWithinMs: number;
  /** False while the store is not to be asked about a partition key, returns included. */
  mayAsk(key: string): boolean;
  /** What calls that wait fail with then. */
  refusal(key: string): Error;
  /** The store has said how much is left of a bucket, besides what is leased. */
  left(policy: Policy, key: string, decision: Decision): void;
  /** A claim failed that no call waited for. */
  failed(error: unknown, claim: Pick<Claim, 'policy' | 'key'>): void;
}

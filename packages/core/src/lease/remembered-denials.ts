import type { Decision } from '../decision/decision.js';
import { ownText } from '../key/own-text.js';
import { boundPartitionKey } from '../key/partition-key.js';
import type { Policy } from '../policy/policy.js';
import type { Clock } from '../time/clock.js';
import { type Denial, denies, denyAgain, LONGEST_MS } from './denial.js';

/** Most denials of one generation. */
const MAX_DENIALS = 50_000;

/** By policy name and partition key. */
type Generation = Map<string, Map<string, Denial>>;

/**
 * Denials of buckets that are not leased, so that a flood of calls that are denied anyway does not
 * reach the store.
 *
 * Two generations: where the younger has become full, or a second old, it becomes the older one, and
 * what that held is forgotten. So it is bounded, and the newest stay; a denial that is forgotten
 * early costs a question.
 */
export class RememberedDenials {
  #young: Generation = new Map();
  #old: Generation = new Map();
  #size = 0;
  #oldSize = 0;
  #youngSinceMs = Number.NEGATIVE_INFINITY;

  /** How many are remembered, also some that hold no longer. */
  get size(): number {
    return this.#size + this.#oldSize;
  }

  /** Says again what is remembered. The clock is read only where there is something. */
  find(policy: Policy, key: string, cost: number, clock: Clock): Decision | undefined {
    const denial = this.#lookUp(policy, key);
    if (denial === undefined) return undefined;
    const nowMs = clock.nowMs();
    if (!denies(denial, policy, cost, nowMs)) return undefined;
    return denyAgain(denial, policy, cost, nowMs);
  }

  remember(key: string, denial: Denial, nowMs: number): void {
    if (this.#size >= MAX_DENIALS || nowMs - this.#youngSinceMs > LONGEST_MS) {
      this.#old = this.#young;
      this.#oldSize = this.#size;
      this.#young = new Map();
      this.#youngSinceMs = nowMs;
      this.#size = 0;
    }
    const { name } = denial.policy;
    const ofPolicy = this.#young.get(name) ?? new Map<string, Denial>();
    this.#young.set(name, ofPolicy);
    const size = ofPolicy.size;
    ofPolicy.set(ownText(boundPartitionKey(key)), denial);
    this.#size += ofPolicy.size - size;
  }

  forget(policy: Policy, key: string): void {
    if (this.#isEmpty) return;
    const bound = boundPartitionKey(key);
    if (this.#young.get(policy.name)?.delete(bound)) this.#size--;
    if (this.#old.get(policy.name)?.delete(bound)) this.#oldSize--;
  }

  /** Most calls find none at all: those cost no more than this. */
  get #isEmpty(): boolean {
    return this.#young.size === 0 && this.#old.size === 0;
  }

  #lookUp({ name }: Policy, key: string): Denial | undefined {
    if (this.#isEmpty) return undefined;
    const bound = boundPartitionKey(key);
    return this.#young.get(name)?.get(bound) ?? this.#old.get(name)?.get(bound);
  }
}

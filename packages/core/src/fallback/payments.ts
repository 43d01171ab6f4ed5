import { ownText } from '../key/own-text.js';
import type { Policy } from '../policy/policy.js';
import { bucketId } from './bucket-id.js';

/** Most buckets of which it is kept. */
const MAX_BUCKETS = 50_000;

interface Payment {
  /** When the one before was made, by this replica's clock. */
  readonly afterMs: number;
  readonly atMs: number;
  /** When the store was charged, by its clock. */
  readonly decidedAtMs: number;
}

/**
 * When a store was last charged for what had been admitted to a bucket without it: permits of that
 * payment can come back into the window they were taken from.
 */
export class Payments {
  readonly #last = new Map<string, Payment>();
  /** Of what was made before that, nothing is known any more. */
  #forgottenMs = Number.NEGATIVE_INFINITY;

  /** @param atMs when it was worked out what is owed, by this replica's clock */
  note(policy: Policy, key: string, atMs: number, decidedAtMs: number): void {
    const id = bucketId(policy, ownText(key));
    const afterMs = this.#last.get(id)?.atMs ?? this.#forgottenMs;
    // The ones made last stay.
    this.#last.delete(id);
    this.#last.set(id, { afterMs, atMs, decidedAtMs });
    if (this.#last.size <= MAX_BUCKETS) return;
    const [first] = this.#last as Iterable<[string, Payment]>;
    const [oldest, { atMs: forgottenMs }] = first as [string, Payment];
    this.#last.delete(oldest);
    this.#forgottenMs = Math.max(this.#forgottenMs, forgottenMs);
  }

  /**
   * The store's time of the payment that what was admitted at `admittedAtMs` was charged with.
   * Undefined where that is not the last one, or nothing was paid since.
   */
  chargedAtMs(policy: Policy, key: string, admittedAtMs: number): number | undefined {
    const last = this.#last.get(bucketId(policy, key));
    if (last === undefined || admittedAtMs <= last.afterMs || admittedAtMs > last.atMs) {
      return undefined;
    }
    return last.decidedAtMs;
  }
}

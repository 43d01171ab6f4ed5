import type { Decision } from '../../../decision/decision.js';
import type { ShardPolicy } from './shares.js';

/**
 * For how long a sub-bucket that had no room is not asked again. By then permits can have come back
 * elsewhere, by a refund or from another replica.
 */
const LONGEST_MS = 1000;

/** What was heard last of one sub-bucket, in this replica's time. */
export class Heard {
  readonly #policy: ShardPolicy;
  #remaining = 0;
  /** When that has grown by one; undefined where it was full. */
  #refillAtMs: number | undefined;
  #resetAtMs = 0;
  /** Costs that did not fit, and when each will. */
  #fits: { readonly cost: number; readonly atMs: number }[] = [];
  /** Before `#dryUntilMs` nothing fits that costs as much. */
  #dryCost = 0;
  #dryUntilMs = Number.NEGATIVE_INFINITY;

  constructor(policy: ShardPolicy) {
    this.#policy = policy;
  }

  /**
   * Notes an answer. It was made between `sentAtMs` and `nowMs`: what does not fit is believed as if it
   * had been made at once, and what will fit counts from its arrival.
   */
  note(decision: Decision, cost: number, sentAtMs: number, nowMs: number): void {
    const { remaining, refillAfterMs, resetAfterMs, retryAfterMs } = decision;
    this.#remaining = remaining;
    this.#refillAtMs = refillAfterMs === undefined ? undefined : nowMs + refillAfterMs;
    this.#resetAtMs = nowMs + resetAfterMs;
    if (this.#fits.length > 0) this.#fits = [];
    if (remaining >= this.#dryCost) this.#dryUntilMs = Number.NEGATIVE_INFINITY;
    if (!decision.allowed) this.#noteDry(cost, retryAfterMs, sentAtMs, nowMs);
    else if (remaining === 0) this.#noteDry(1, refillAfterMs, sentAtMs, nowMs);
  }

  /** Notes what was answered on another cost at the same instant. */
  noteToo(
    { allowed, retryAfterMs }: Decision,
    cost: number,
    sentAtMs: number,
    nowMs: number,
  ): void {
    if (!allowed) this.#noteDry(cost, retryAfterMs, sentAtMs, nowMs);
  }

  /** Takes it that `change` permits come or go, until the answer says so. */
  expect(change: number, nowMs: number): void {
    const permits = this.permitsAt(nowMs) + change;
    this.#remaining = Math.max(0, Math.min(this.#policy.burst, permits));
    this.#resetAtMs = Math.max(this.#resetAtMs, nowMs + 1);
    this.#refillAtMs = Math.max(this.#refillAtMs ?? 0, nowMs + 1);
    if (this.#fits.length > 0) this.#fits = [];
  }

  /** True where it is known that `cost` does not fit at `nowMs`. */
  isDry(cost: number, nowMs: number): boolean {
    return nowMs < this.#dryUntilMs && cost >= this.#dryCost;
  }

  /** Permits that are there at `atMs`, now or later, if nobody spends: so many at least. */
  permitsAt(atMs: number): number {
    const { burst, limit, windowMs, algorithm } = this.#policy;
    if (atMs >= this.#resetAtMs) return burst;
    let permits = this.#remaining;
    if (this.#refillAtMs !== undefined && atMs >= this.#refillAtMs) {
      const isEven = algorithm === 'token-bucket' || algorithm === 'gcra';
      const later = isEven ? Math.floor(((atMs - this.#refillAtMs) * limit) / windowMs) : 0;
      permits += 1 + later;
    }
    for (const { cost, atMs: fitsAtMs } of this.#fits) {
      if (atMs >= fitsAtMs) permits = Math.max(permits, cost);
    }
    return Math.min(burst, permits);
  }

  /** When there are more permits than now, at the earliest; undefined where it is full. */
  growsAtMs(nowMs: number): number | undefined {
    return nowMs >= this.#resetAtMs ? undefined : this.#refillAtMs;
  }

  get resetAtMs(): number {
    return this.#resetAtMs;
  }

  #noteDry(cost: number, afterMs: number | undefined, sentAtMs: number, nowMs: number): void {
    if (afterMs !== undefined) this.#fits.push({ cost, atMs: nowMs + afterMs });
    const untilMs = sentAtMs + Math.min(afterMs ?? LONGEST_MS, LONGEST_MS);
    // What is known of a lesser cost says more.
    if (cost > this.#dryCost && sentAtMs < this.#dryUntilMs) return;
    this.#dryCost = cost;
    this.#dryUntilMs = untilMs;
  }
}

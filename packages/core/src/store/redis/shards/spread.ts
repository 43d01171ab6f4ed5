import { makeDecision } from '../../../algorithms/make-decision.js';
import type { Decision } from '../../../decision/decision.js';
import { Heard } from './heard.js';
import { partsOf, type ShardedPolicy, type ShardPolicy } from './shares.js';

/**
 * How long a replica keeps to one sub-bucket. Long enough that the checks of a turn stay one entry of
 * its batch; short enough that all primaries are asked alike, however few replicas there are, and that
 * none has all the load for long.
 */
const KEEP_MS = 25;

/** After so long without any answer one is taken not to: a server may pause for some tens of ms. */
const SILENCE_MS = 100;

/** How long one that did not answer is left alone. */
const LOST_MS = 1000;

/**
 * One sharded bucket as this replica knows it: the sub-bucket it keeps to, and what it last heard of
 * each. Sub-buckets are named by their index.
 */
export class Spread {
  readonly policy: ShardedPolicy;
  readonly parts: readonly ShardPolicy[];
  readonly #heard: (Heard | undefined)[];
  /** Until then one that did not answer is asked only where all have to be. */
  readonly #lostUntilMs: number[];
  /** Since when one was asked in vain; undefined where it has answered since. */
  readonly #askedAtMs: (number | undefined)[];
  #home: number;
  #homeSinceMs: number;
  readonly #step: number;

  /** It begins at a random sub-bucket. */
  constructor(policy: ShardedPolicy, nowMs: number) {
    this.policy = policy;
    this.parts = partsOf(policy);
    this.#heard = this.parts.map(() => undefined);
    this.#lostUntilMs = this.parts.map(() => Number.NEGATIVE_INFINITY);
    this.#askedAtMs = this.parts.map(() => undefined);
    this.#home = Math.floor(Math.random() * policy.shards);
    this.#homeSinceMs = nowMs;
    this.#step = stepOf(policy.shards);
  }

  /**
   * Where to ask first for `cost` permits: home, where it is believed to have them, else the fullest that
   * is; where none is, home unless it is known to have no room, then the one that has soonest. Undefined
   * where the cost is above the burst of each.
   */
  firstFor(cost: number, nowMs: number): number | undefined {
    this.#leaveSilent(nowMs);
    // Held in advance, permits would lie idle behind a replica that has moved on.
    const keeps = this.policy.lease !== undefined || nowMs - this.#homeSinceMs < KEEP_MS;
    if (!keeps) this.moveTo(this.#home + this.#step, nowMs);
    const mayFit = this.#mayFit(this.#home, cost, nowMs);
    if (mayFit && this.permits(this.#home, nowMs) >= cost) return this.#home;
    const other = this.fullest(cost, nowMs) ?? (mayFit ? this.#home : undefined);
    return other ?? this.#soonest(cost, nowMs);
  }

  /**
   * The one that is believed to have most of those that have `cost` permits and are not `tried`. Of
   * equals the next behind home.
   */
  fullest(cost: number, nowMs: number, tried?: ReadonlySet<number>): number | undefined {
    let found: number | undefined;
    let most = cost - 1;
    for (let i = 0; i < this.parts.length; i++) {
      const index = (this.#home + i) % this.parts.length;
      if (tried?.has(index) || !this.#mayFit(index, cost, nowMs)) continue;
      const permits = this.permits(index, nowMs);
      if (permits <= most) continue;
      found = index;
      most = permits;
    }
    return found;
  }

  /**
   * Where to claim permits in advance: the one that is believed to have most, of those that lease any and
   * have answered lately; where none has, home. The next claim begins behind it, so that of equals each
   * is asked in turn.
   */
  fullestToLease(nowMs: number): number {
    this.#leaveSilent(nowMs);
    let found = this.#home;
    let most = -1;
    for (let i = 0; i < this.parts.length; i++) {
      const index = (this.#home + i) % this.parts.length;
      const permits = this.permits(index, nowMs);
      if (this.parts[index]?.lease?.share === 0 || permits <= most) continue;
      if (this.#isLost(index, nowMs)) continue;
      found = index;
      most = permits;
    }
    this.moveTo(found + this.#step, nowMs);
    return found;
  }

  /** Those of which it is not known that `cost` does not fit. */
  unknown(cost: number, nowMs: number): number[] {
    const isDry = (index: number) => this.#heard[index]?.isDry(cost, nowMs) === true;
    return this.all.filter((index) => !isDry(index));
  }

  get all(): number[] {
    return this.parts.map((_, index) => index);
  }

  /** Keeps to one from now on; changes nothing where it does already. */
  use(index: number, nowMs: number): void {
    if (index !== this.#home) this.moveTo(index, nowMs);
  }

  moveTo(index: number, nowMs: number): void {
    this.#home = index % this.parts.length;
    this.#homeSinceMs = nowMs;
  }

  /** Leaves a sub-bucket that does not answer. */
  leave(index: number, nowMs: number): void {
    this.#askedAtMs[index] = undefined;
    this.#lostUntilMs[index] = nowMs + LOST_MS;
    if (index === this.#home) this.moveTo(index + this.#step, nowMs);
  }

  /** One is asked: until it answers, or is left, that is remembered. */
  asked(index: number, nowMs: number): void {
    this.#askedAtMs[index] ??= nowMs;
  }

  /** One has answered, if nothing that could be noted. */
  answered(index: number): void {
    this.#lostUntilMs[index] = Number.NEGATIVE_INFINITY;
    this.#askedAtMs[index] = undefined;
  }

  /** Notes what one answered. */
  note(index: number, decision: Decision, cost: number, sentAtMs: number, nowMs: number): void {
    this.#of(index).note(decision, cost, sentAtMs, nowMs);
    this.answered(index);
  }

  /** As `note`, of a cost that was asked at the same instant as the one before. */
  noteToo(index: number, decision: Decision, cost: number, sentAtMs: number, nowMs: number): void {
    this.#of(index).noteToo(decision, cost, sentAtMs, nowMs);
  }

  /** Takes it that `change` permits come to one, or go, until it answers. */
  expect(index: number, change: number, nowMs: number): void {
    this.#heard[index]?.expect(change, nowMs);
  }

  /** All begin anew. */
  clear(): void {
    this.#heard.fill(undefined);
  }

  isHeard(index: number): boolean {
    return this.#heard[index] !== undefined;
  }

  /** Permits that one is believed to have at `atMs`, now or later; all where nothing was heard of it. */
  permits(index: number, atMs: number): number {
    return this.#heard[index]?.permitsAt(atMs) ?? (this.parts[index] as ShardPolicy).burst;
  }

  /** What all have together at `atMs` if nobody spends. */
  permitsOfAll(atMs: number): number {
    let sum = 0;
    for (let i = 0; i < this.parts.length; i++) sum += this.permits(i, atMs);
    return sum;
  }

  /**
   * The decision of the whole bucket. `remaining` is the sum of what was heard last; of those not
   * heard of, as much of their burst as `asked` has of its own.
   *
   * @param asked a sub-bucket that has just answered
   * @param decidedAtMs as the decision is to have it
   */
  decide(fits: boolean, cost: number, asked: number, decidedAtMs: number, nowMs: number): Decision {
    const { policy, parts } = this;
    const like = this.permits(asked, nowMs) / (parts[asked] as ShardPolicy).burst;
    let remaining = 0;
    let growsAtMs = Number.POSITIVE_INFINITY;
    let resetAtMs = nowMs;
    for (let i = 0; i < parts.length; i++) {
      const heard = this.#heard[i];
      if (heard === undefined) {
        remaining += Math.floor(like * (parts[i] as ShardPolicy).burst);
        continue;
      }
      remaining += heard.permitsAt(nowMs);
      growsAtMs = Math.min(growsAtMs, heard.growsAtMs(nowMs) ?? growsAtMs);
      resetAtMs = Math.max(resetAtMs, heard.resetAtMs);
    }
    const isFull = remaining >= policy.burst;
    return makeDecision(
      policy,
      fits,
      Math.min(policy.burst, remaining),
      fits || cost > policy.burst ? undefined : this.#fitsAfterMs(cost, nowMs),
      isFull ? undefined : Math.max(1, growsAtMs - nowMs),
      isFull ? 0 : Math.max(1, resetAtMs - nowMs),
      decidedAtMs,
      'store',
    );
  }

  /** A time after which `cost` permits, at most the burst, are there together. */
  #fitsAfterMs(cost: number, nowMs: number): number {
    let low = 1;
    let high = 1;
    for (const heard of this.#heard) high = Math.max(high, (heard?.resetAtMs ?? nowMs) - nowMs);
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.permitsOfAll(nowMs + middle) >= cost) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #mayFit(index: number, cost: number, nowMs: number): boolean {
    if (cost > (this.parts[index] as ShardPolicy).burst) return false;
    if (this.#isLost(index, nowMs)) return false;
    return this.#heard[index]?.isDry(cost, nowMs) !== true;
  }

  /** A client keeps what a silent server was asked, and tells nothing. */
  #leaveSilent(nowMs: number): void {
    for (let index = 0; index < this.parts.length; index++) {
      const askedAtMs = this.#askedAtMs[index];
      if (askedAtMs !== undefined && nowMs - askedAtMs >= SILENCE_MS) this.leave(index, nowMs);
    }
  }

  #isLost(index: number, nowMs: number): boolean {
    return nowMs < (this.#lostUntilMs[index] as number);
  }

  #soonest(cost: number, nowMs: number): number | undefined {
    let found: number | undefined;
    let soonestMs = Number.POSITIVE_INFINITY;
    this.parts.forEach(({ burst }, index) => {
      const atMs = this.#heard[index]?.growsAtMs(nowMs) ?? nowMs;
      if (cost > burst || atMs >= soonestMs || this.#isLost(index, nowMs)) return;
      found = index;
      soonestMs = atMs;
    });
    return found;
  }

  #of(index: number): Heard {
    const known = this.#heard[index];
    if (known !== undefined) return known;
    const heard = new Heard(this.parts[index] as ShardPolicy);
    this.#heard[index] = heard;
    return heard;
  }
}

/**
 * From one sub-bucket to the next: about three eighths around the circle, as neighbours are mostly on
 * one primary, and so that each has its turn.
 */
function stepOf(count: number): number {
  let step = Math.max(1, Math.round((3 * count) / 8));
  while (divisor(step, count) > 1) step++;
  return step;
}

/** The greatest that two integers have in common. */
function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}

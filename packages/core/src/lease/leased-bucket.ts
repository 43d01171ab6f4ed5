import { makeDecision } from '../algorithms/make-decision.js';
import type { Decision } from '../decision/decision.js';
import type { LeaseTerms } from '../policy/lease-terms.js';
import { type Policy, samePolicy } from '../policy/policy.js';
import type { Claim, Grant, LeaseReport } from '../store/store.js';
import { Demand } from './demand.js';
import { type Denial, denialOf, denies, denyAgain, isDenial } from './denial.js';
import { HeldLeases } from './held-leases.js';

/** Most calls whose decisions one claim asks for; more wait for the next. */
const MAX_COSTS = 1024;

/** A lease is asked for while what is left lasts this many round trips. */
const ROUND_TRIPS_AHEAD = 2;

/** What a round trip is taken to be before there was one, and the weight of each in its average. */
const ROUND_TRIP_MS = 1;
const ROUND_TRIP_WEIGHT = 0.2;

/** A call that waits for its decision. */
export interface Waiter {
  readonly policy: Policy;
  readonly cost: number;
  resolve(decision: Decision): void;
  reject(error: unknown): void;
}

/** A waiter in line. */
interface InLine extends Waiter {
  /**
   * Where the store has not been asked by then, it need not be: the call is decided without it.
   * Undefined in the turn in which it came, from whose end on it waits.
   */
  untilMs: number | undefined;
}

/** What a bucket asks of the store: a claim but for whose it is, and the calls it decides. */
export interface Ask {
  readonly claim: Omit<Claim, 'key' | 'holder' | 'turn'>;
  readonly waiters: readonly Waiter[];
  readonly sentAtMs: number;
}

/**
 * One bucket as this replica sees it: the permits it holds, what it last heard of the rest, and the
 * calls that wait. It decides what it can; what it asks of the store, and when, is for `LeaseBook`
 * to carry out. Reads no clock.
 */
export class LeasedBucket {
  readonly key: string;
  /** As it was last asked for. */
  policy: Policy;
  readonly leases: HeldLeases = new HeldLeases();
  /** The values that what is held was granted under: calls under others are for the store. */
  #leasedUnder: Policy;
  readonly #demand: Demand;
  readonly #waiters: InLine[] = [];
  /** When what is not answered yet was asked. */
  #askingSinceMs: number | undefined;
  readonly #answerWithinMs: number;
  /** Before it nothing is asked in advance: permits are short. */
  #askAfterMs = 0;
  /** Below so many permits more are asked for, in advance. */
  #askBelow = 0;
  #roundTripMs = ROUND_TRIP_MS;
  #denial: Denial | undefined;
  /** What the store said it had left when it last answered, and when. */
  #leftAtStore = 0;
  #refillAtMs = 0;
  #resetAtMs = 0;
  /** When it was last asked for. */
  usedAtMs: number;
  /** True while `LeaseBook` has it on its list. */
  listed = false;

  /** @param answerWithinMs as of `StoreWatch` */
  constructor(policy: Policy, key: string, nowMs: number, answerWithinMs: number) {
    this.policy = policy;
    this.#answerWithinMs = answerWithinMs;
    this.#leasedUnder = policy;
    this.key = key;
    this.#demand = new Demand(nowMs);
    this.usedAtMs = nowMs;
  }

  /** True where nothing would be lost with it. */
  get isIdle(): boolean {
    return this.leases.isEmpty && !this.isWaiting && this.#askingSinceMs === undefined;
  }

  /** True while calls wait for an answer that was not asked for yet. */
  get isWaiting(): boolean {
    return this.#waiters.length > 0;
  }

  /** The decision where what is held or remembered is enough for one; it is charged then. */
  tryConsume(policy: Policy, cost: number, nowMs: number): Decision | undefined {
    if (this.#isLeasedUnder(policy) && this.leases.take(cost, nowMs)) {
      this.count(policy, cost, nowMs);
      return this.allow(policy, nowMs);
    }
    const denied = this.deny(policy, cost, nowMs);
    if (denied !== undefined) this.count(policy, cost, nowMs);
    return denied;
  }

  /** That `cost` permits fit, which have been taken. */
  allow(policy: Policy, nowMs: number): Decision {
    const remaining = Math.min(policy.burst, this.#leftAtStore + this.leases.left(nowMs));
    const full = remaining === policy.burst;
    return makeDecision(
      policy,
      true,
      remaining,
      undefined,
      full ? undefined : Math.max(1, this.#refillAtMs - nowMs),
      full ? 0 : Math.max(1, this.#resetAtMs - nowMs),
      this.leases.grantedAtMs,
      'lease',
    );
  }

  /** True where what is held covers `cost` permits. */
  holds(policy: Policy, cost: number, nowMs: number): boolean {
    return this.#isLeasedUnder(policy) && cost > 0 && cost <= this.leases.left(nowMs);
  }

  /** The denial that is remembered, where it holds for `cost` permits. */
  deny(policy: Policy, cost: number, nowMs: number): Decision | undefined {
    const denial = this.#denial;
    if (denial === undefined || !denies(denial, policy, cost, nowMs)) return undefined;
    return denyAgain(denial, policy, cost, nowMs);
  }

  /** Adds a call that waits for the store. */
  wait(waiter: Waiter, nowMs: number): void {
    this.count(waiter.policy, waiter.cost, nowMs);
    this.#waiters.push({ ...waiter, untilMs: undefined });
  }

  /** Notes that a call asked for permits, whatever became of it. */
  count(policy: Policy, cost: number, nowMs: number): void {
    this.policy = policy;
    // What can never fit is no demand.
    if (cost <= policy.burst) this.#demand.add(cost);
    this.usedAtMs = nowMs;
  }

  /** True where the store should be asked: for calls that wait, or in advance. */
  wantsToAsk(nowMs: number): boolean {
    if (this.#awaitsAnswer(nowMs)) return false;
    if (this.isWaiting) return true;
    return (
      nowMs >= this.#askAfterMs &&
      this.leases.isBelow(this.#askBelow) &&
      this.leases.left(nowMs) < this.#askBelow
    );
  }

  /**
   * What to ask now; undefined where there is nothing, or an answer is awaited.
   * @param ahead whether also for permits in advance
   */
  ask(nowMs: number, ahead = true): Ask | undefined {
    this.#dropLate(nowMs);
    if (this.#awaitsAnswer(nowMs)) return undefined;
    const own = this.leases.isEmpty ? this.policy : this.#leasedUnder;
    const policy = this.#waiters[0]?.policy ?? own;
    const reports = this.#leaseUnder(policy);
    this.#demand.update(nowMs);
    this.#askBelow = this.#demand.permitsPerMs * ROUND_TRIPS_AHEAD * this.#roundTripMs;
    const waiters = this.#nextWaiters();
    // What is held was not enough for one that waits: with it the bucket may have enough.
    if (waiters.length > 0) reports.push(...this.leases.reportAll());
    // With calls that wait the store is asked anyway.
    const mayAsk = ahead && (waiters.length > 0 || nowMs >= this.#askAfterMs);
    const extra = mayAsk ? this.#extra(policy, nowMs) : 0;
    if (waiters.length === 0 && extra === 0 && reports.length === 0) return undefined;
    reports.push(...this.leases.report(nowMs));
    const costs = waiters.map(({ cost }) => cost);
    this.#askingSinceMs = nowMs;
    return { claim: { policy, reports, costs, extra }, waiters, sentAtMs: nowMs };
  }

  /**
   * What to tell the store of permits that are not spent any more; undefined where there are none,
   * or an answer is awaited.
   * @param all also those whose time is not over
   */
  giveBack(all: boolean, nowMs: number): Ask | undefined {
    if (this.#awaitsAnswer(nowMs)) return undefined;
    if (!all && !this.leases.isOver(nowMs)) return undefined;
    const reports = all ? this.leases.reportAll() : this.leases.report(nowMs);
    if (reports.length === 0) return undefined;
    this.#askingSinceMs = nowMs;
    const claim = { policy: this.#leasedUnder, reports, costs: [], extra: 0 };
    return { claim, waiters: [], sentAtMs: nowMs };
  }

  /** A claim of nothing that tells what was spent; undefined where there is nothing to tell. */
  tell(nowMs: number): Ask['claim'] | undefined {
    const reports = this.leases.report(nowMs);
    if (reports.length === 0) return undefined;
    return { policy: this.#leasedUnder, reports, costs: [], extra: 0 };
  }

  /**
   * Takes back that permits were spent of what is held under these values.
   * @returns false, having done nothing, where that cannot be: see `HeldLeases.unspend`
   */
  unspend(policy: Policy, permits: number, takenAtMs: number | undefined, nowMs: number): boolean {
    return this.#isLeasedUnder(policy) && this.leases.unspend(permits, takenAtMs, nowMs);
  }

  /** How many permits to ask for in advance. */
  #extra({ lease, shards = 1 }: Policy, nowMs: number): number {
    const { horizonMs, share: ofAll } = lease as LeaseTerms;
    // One shard grants no more.
    const share = Math.ceil(ofAll / shards);
    // A lease that could not serve one ordinary call would only lie in its way.
    if (this.#demand.permitsPerCall > share) return 0;
    const wanted = this.#demand.expected(horizonMs) - this.leases.left(nowMs);
    return Math.max(0, Math.min(wanted, share));
  }

  #isLeasedUnder(policy: Policy): boolean {
    return policy === this.#leasedUnder || samePolicy(policy, this.#leasedUnder);
  }

  /**
   * From now on permits are held under `policy`.
   * @returns what the store is to be told of those that were held under other values
   */
  #leaseUnder(policy: Policy): LeaseReport[] {
    const before = this.#leasedUnder;
    if (this.#isLeasedUnder(policy)) return [];
    this.#leasedUnder = policy;
    const sameBucket = policy.algorithm === before.algorithm && policy.shards === before.shards;
    if (sameBucket) return this.leases.reportAll();
    // The store keeps that as another bucket, which has other epochs: there is nobody to tell.
    this.leases.drop();
    return [];
  }

  /** What has not come by then is not waited for any more. */
  #awaitsAnswer(nowMs: number): boolean {
    if (this.#askingSinceMs === undefined) return false;
    const { ttlMs } = this.policy.lease as LeaseTerms;
    return nowMs - this.#askingSinceMs < Math.min(ttlMs, this.#answerWithinMs);
  }

  /**
   * The answer to a claim. Undefined: it was heard before, and is lost.
   * @returns permits of it that are held now
   */
  answer({ claim, waiters, sentAtMs }: Ask, grant: Grant | undefined, nowMs: number): number {
    this.answered(sentAtMs);
    if (grant === undefined) {
      this.#waiters.unshift(...waiters.map((waiter) => ({ ...waiter, untilMs: undefined })));
      return 0;
    }
    this.#roundTripMs += ROUND_TRIP_WEIGHT * (nowMs - sentAtMs - this.#roundTripMs);
    this.#note(grant.left, nowMs);
    // Where other values have come in between, the store writes these permits off.
    const isKept = grant.permits > 0 && this.#isLeasedUnder(claim.policy);
    if (isKept) this.leases.add(grant, sentAtMs);
    if (grant.permits < claim.extra) this.#short(claim.policy, grant.left, sentAtMs, nowMs);
    waiters.forEach((waiter, i) => {
      this.decided(waiter, grant.decisions[i] as Decision, sentAtMs, nowMs);
    });
    this.#serve(nowMs);
    return isKept ? grant.permits : 0;
  }

  /** The store decided on a waiter. */
  decided(
    { policy, cost, resolve }: Waiter,
    decision: Decision,
    sentAtMs: number,
    nowMs: number,
  ): void {
    resolve(decision);
    if (isDenial(decision)) this.remember(policy, cost, decision, sentAtMs, nowMs);
  }

  /** What was asked at `sentAtMs` is answered. */
  answered(sentAtMs: number): void {
    if (this.#askingSinceMs === sentAtMs) this.#askingSinceMs = undefined;
  }

  /** There is no answer. What was told is not told again: the store may have heard it. */
  failed({ claim, waiters, sentAtMs }: Ask, error: unknown, nowMs: number): void {
    this.answered(sentAtMs);
    this.#askAfterMs = nowMs + (claim.policy.lease as LeaseTerms).paceMs;
    for (const { reject } of waiters) reject(error);
  }

  /** Calls that wait are not asked for. */
  refuse(error: unknown): void {
    for (const { reject } of this.#waiters.splice(0)) reject(error);
  }

  /** Notes a denial by the store. */
  remember(
    policy: Policy,
    cost: number,
    decision: Decision,
    sentAtMs: number,
    nowMs: number,
  ): void {
    const { paceMs } = policy.lease as LeaseTerms;
    if (cost > policy.burst) {
      // That says nothing of other costs, which a denial that is remembered may.
      if (this.#denial !== undefined && nowMs < this.#denial.untilMs) return;
      this.#denial = denialOf(policy, cost, decision, undefined, 0, sentAtMs, nowMs);
      return;
    }
    const fitsAfterMs = decision.retryAfterMs ?? 0;
    this.#deny(denialOf(policy, cost, decision, fitsAfterMs, paceMs, sentAtMs, nowMs));
  }

  forgetDenial(): void {
    this.#denial = undefined;
    this.#askAfterMs = 0;
  }

  #nextWaiters(): Waiter[] {
    const policy = this.#waiters[0]?.policy;
    let count = 0;
    while (count < this.#waiters.length && count < MAX_COSTS) {
      if (this.#waiters[count]?.policy !== policy) break;
      count++;
    }
    return this.#waiters.splice(0, count);
  }

  /** Less was granted than asked for. Where nothing is left, calls are denied once the lease is spent. */
  #short(policy: Policy, left: Decision, sentAtMs: number, nowMs: number): void {
    const { paceMs } = policy.lease as LeaseTerms;
    if (left.remaining > 0) {
      this.#askAfterMs = nowMs + paceMs;
    } else {
      this.#deny(denialOf(policy, 1, left, left.refillAfterMs, paceMs, sentAtMs, nowMs));
    }
  }

  /** A round trip before it ends, the store is asked again: then there is an answer when it does. */
  #deny(denial: Denial): void {
    this.#denial = denial;
    this.#askAfterMs = denial.untilMs - Math.ceil(this.#roundTripMs);
  }

  #note(left: Decision, nowMs: number): void {
    this.#leftAtStore = left.remaining;
    this.#refillAtMs = nowMs + (left.refillAfterMs ?? 0);
    this.#resetAtMs = nowMs + left.resetAfterMs;
  }

  /** Drops the calls that have been decided without the store meanwhile. They came in order. */
  #dropLate(nowMs: number): void {
    const isLate = ({ untilMs }: InLine) => untilMs !== undefined && untilMs <= nowMs;
    const first = this.#waiters.findIndex((waiter) => !isLate(waiter));
    this.#waiters.splice(0, first < 0 ? this.#waiters.length : first);
    // Twice as long: a stall of the event loop puts a deadline off.
    for (const waiter of this.#waiters) waiter.untilMs ??= nowMs + 2 * this.#answerWithinMs;
  }

  /** Decides what it can of the calls that came while the answer was awaited. */
  #serve(nowMs: number): void {
    this.#dropLate(nowMs);
    const waiting = this.#waiters.splice(0);
    for (const waiter of waiting) {
      const { policy, cost } = waiter;
      const isHeld = this.#isLeasedUnder(policy) && this.leases.take(cost, nowMs);
      const decision = isHeld ? this.allow(policy, nowMs) : this.deny(policy, cost, nowMs);
      if (decision === undefined) this.#waiters.push(waiter);
      else waiter.resolve(decision);
    }
  }
}

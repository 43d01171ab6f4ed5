import type { Decision } from '../decision/decision.js';
import { MAX_TEXT } from '../key/partition-key.js';
import { LeaseCounts } from '../metrics/lease-counts.js';
import type { LeaseMetrics } from '../metrics/limiter-metrics.js';
import type { StoreWatcher } from '../metrics/store-watcher.js';
import type { Policy } from '../policy/policy.js';
import { putBack } from '../store/put-back.js';
import type { Charge, Store } from '../store/store.js';
import { startSweeper } from '../store/sweeper.js';
import { atMost } from '../time/at-most.js';
import { type Clock, monotonicClock } from '../time/clock.js';
import { Asker } from './asker.js';
import { BucketBook } from './bucket-book.js';
import { denialOf, isDenial } from './denial.js';
import { isLate, type PutAside } from './held-leases.js';
import type { LeasedBucket } from './leased-bucket.js';
import { RememberedDenials } from './remembered-denials.js';
import type { StoreWatch } from './store-watch.js';

/** The longest that `close` waits for the store to hear of what is returned. */
const CLOSE_MS = 1000;

/**
 * How often leases whose time is over are returned of buckets that nobody asks for any more, and of
 * how many buckets in one turn.
 */
const SWEEP_EVERY_MS = 250;
const SWEEP_COUNT = 2000;

/** Permits put aside of a lease, and the decision that they make. */
interface Held {
  readonly bucket: LeasedBucket;
  readonly aside: PutAside;
  readonly decision: Decision;
}

/**
 * What a replica decides without the store, of buckets that live elsewhere: from leases, where a
 * policy has them, and from denials that it remembers. What it cannot decide it asks.
 *
 * The store is asked in advance, while what is held is spent on, and calls that come while a bucket's
 * question is under way wait for it together. There is no timer for a bucket, and nothing keeps the
 * process alive.
 */
export class LeaseBook {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #watch: StoreWatch;
  readonly #asker: Asker;
  readonly #counts = new LeaseCounts();
  readonly #denials = new RememberedDenials();
  readonly #buckets = new BucketBook();
  #sweptAtMs = Number.NEGATIVE_INFINITY;
  #stopSweeper: (() => void) | undefined;
  #closed = false;

  constructor(store: Store, clock: Clock, watch: StoreWatch, watcher: StoreWatcher) {
    this.#store = store;
    this.#clock = clock;
    this.#watch = watch;
    this.#asker = new Asker(store, clock, watch, watcher, this.#counts, (nowMs) => {
      if (nowMs - this.#sweptAtMs >= SWEEP_EVERY_MS) this.sweep(SWEEP_COUNT);
    });
  }

  /** Buckets kept at present. */
  get size(): number {
    return this.#buckets.size;
  }

  get metrics(): LeaseMetrics {
    const { claims, granted, returned, writtenOff } = this.#counts;
    return { claims, granted, returned, writtenOff, buckets: this.size };
  }

  /** Denials that are remembered, of buckets that are not leased. */
  get rememberedDenials(): number {
    return this.#denials.size;
  }

  /** Permits of a bucket that are held here at present. */
  held(policy: Policy, key: string): number {
    return this.#find(policy, key)?.leases.left(this.#clock.nowMs()) ?? 0;
  }

  /**
   * Decides at once, and charges, where a lease or a remembered denial allows it; else undefined,
   * with nothing charged.
   */
  tryConsume(policy: Policy, key: string, cost: number): Decision | undefined {
    if (cost === 0) return undefined;
    const bucket = this.#find(policy, key);
    if (bucket === undefined) return this.#denials.find(policy, key, cost, this.#clock);
    return this.#tryBucket(bucket, policy, cost, this.#clock.nowMs());
  }

  /** Asks the store. To be called where `tryConsume` gave undefined. */
  consume(policy: Policy, key: string, cost: number): Promise<Decision> {
    if (cost === 0) return this.#store.consume(policy, key, cost);
    const nowMs = this.#clock.nowMs();
    const bucket = this.#findOrAdd(policy, key, nowMs);
    if (bucket === undefined) return this.#consumeAtStore(policy, key, cost, nowMs);
    return new Promise((resolve, reject) => {
      bucket.wait({ policy, cost, resolve, reject }, nowMs);
      this.#asker.list(bucket);
    });
  }

  /**
   * As `tryConsume`, for several buckets: all leases are looked at before any is spent. Where a
   * remembered denial decides, what is not known of the others is undefined in its place.
   */
  tryConsumeAll(charges: readonly Charge[]): readonly (Decision | undefined)[] | undefined {
    const nowMs = this.#clock.nowMs();
    const held = charges.map((charge) => this.#findHolding(charge, nowMs));
    const denials = charges.map((charge, i) =>
      held[i] === undefined ? this.#deny(charge, nowMs) : undefined,
    );
    const isDenied = denials.some((denial) => denial?.allowed === false);
    // What can never fit waits longest, and only the store knows what is left there.
    const isUnknown = ({ policy, cost }: Charge, i: number) =>
      (denials[i] ?? held[i]) === undefined && (!isDenied || cost > policy.burst);
    if (charges.some(isUnknown)) return undefined;
    if (isDenied) for (const charge of charges) this.#noteDemand(charge, nowMs);
    return charges.map(({ policy, cost }, i) => {
      const bucket = held[i];
      if (bucket === undefined) return denials[i];
      if (isDenied) return bucket.allow(policy, nowMs);
      return this.#tryBucket(bucket, policy, cost, nowMs);
    });
  }

  /** As `consume`, for several buckets: what is held is put aside until the store has decided. */
  async consumeAll(charges: readonly Charge[]): Promise<readonly Decision[]> {
    const nowMs = this.#clock.nowMs();
    const held = charges.map((charge) => this.#putAside(charge, nowMs));
    const asked = charges.filter((_, i) => held[i] === undefined);
    const decisions = new Map<Charge, Decision>();
    let allowed = false;
    try {
      allowed = await this.#askAll(asked, decisions, nowMs);
      // The store may have written off what was put aside too long ago: it decides that, too.
      const laterMs = this.#clock.nowMs();
      const late = charges.filter((_, i) => isLate(held[i]?.aside ?? [], laterMs));
      if (allowed && late.length > 0) {
        allowed = await this.#askAll(late, decisions, laterMs);
        if (!allowed) await this.#putAllBack(asked, decisions);
      }
    } finally {
      held.forEach((own, i) => {
        const spent = allowed && !decisions.has(charges[i] as Charge);
        own?.bucket.leases.conclude(own.aside, spent);
      });
    }
    return charges.map((charge, i) => decisions.get(charge) ?? (held[i] as Held).decision);
  }

  /**
   * Puts permits back: into the lease they were spent from where the store was not told, else into
   * the bucket, behind what there is to tell, since what counts as out cannot come back.
   * @param takenAtMs as of `Store.refund`
   */
  async refund(
    policy: Policy,
    key: string,
    permits: number,
    takenAtMs: number | undefined,
  ): Promise<Decision> {
    const nowMs = this.#clock.nowMs();
    const bucket = this.#find(policy, key);
    if (permits > 0 && bucket?.unspend(policy, permits, takenAtMs, nowMs)) {
      return bucket.allow(policy, nowMs);
    }
    if (bucket !== undefined) this.#asker.tell(bucket, nowMs);
    const decision = await this.#store.refund(policy, key, permits, takenAtMs);
    this.changed(policy, key);
    return decision;
  }

  /** Permits came back to a bucket, or were taken: a denial may hold no longer. */
  changed(policy: Policy, key: string): void {
    this.#denials.forget(policy, key);
    this.#buckets.find(policy, key)?.forgetDenial();
  }

  /** A bucket begins anew. */
  reset(policy: Policy, key: string): void {
    this.changed(policy, key);
    this.#buckets.find(policy, key)?.leases.drop();
  }

  /**
   * Returns what is held. Resolves when the store has heard of it, or after a second: it gets over
   * it by itself.
   */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopSweeper?.();
    if (this.#buckets.size === 0) return;
    await atMost(CLOSE_MS, this.#asker.close(this.#buckets.all()));
    this.#buckets.clear();
  }

  /**
   * Looks at the next `count` buckets: forgets those nobody asks for, returns what is over, and asks
   * again where no answer came.
   */
  sweep(count: number): void {
    const nowMs = this.#clock.nowMs();
    this.#sweptAtMs = nowMs;
    for (const bucket of this.#buckets.sweep(count, nowMs)) {
      if (bucket.isWaiting) this.#asker.list(bucket);
      else this.#asker.giveBack(bucket, false, nowMs);
    }
  }

  /** The bucket of a leased policy, where it is kept. */
  #find(policy: Policy, key: string): LeasedBucket | undefined {
    return policy.lease && this.#buckets.find(policy, key);
  }

  /** As `#find`, new where there was none; undefined also where there is no room, or the key is too long. */
  #findOrAdd(policy: Policy, key: string, nowMs: number): LeasedBucket | undefined {
    if (policy.lease === undefined || key.length > MAX_TEXT) return undefined;
    const found = this.#buckets.find(policy, key);
    if (found !== undefined) return found;
    // A clock of one's own is not moved by real time: then only what is asked sets off a sweep.
    if (this.#stopSweeper === undefined && this.#clock === monotonicClock) {
      this.#stopSweeper = startSweeper(this, SWEEP_EVERY_MS);
    }
    return this.#buckets.add(policy, key, nowMs, this.#watch.answerWithinMs);
  }

  /** The bucket of which enough is held for a charge. */
  #findHolding({ policy, key, cost }: Charge, nowMs: number): LeasedBucket | undefined {
    const bucket = this.#find(policy, key);
    return bucket?.holds(policy, cost, nowMs) ? bucket : undefined;
  }

  #tryBucket(
    bucket: LeasedBucket,
    policy: Policy,
    cost: number,
    nowMs: number,
  ): Decision | undefined {
    const decision = bucket.tryConsume(policy, cost, nowMs);
    if (decision !== undefined && bucket.wantsToAsk(nowMs)) this.#asker.list(bucket);
    return decision;
  }

  /** The denial that is remembered of a charge which is not held. */
  #deny({ policy, key, cost }: Charge, nowMs: number): Decision | undefined {
    if (cost === 0) return undefined;
    const bucket = this.#find(policy, key);
    if (bucket === undefined) return this.#denials.find(policy, key, cost, this.#clock);
    return bucket.deny(policy, cost, nowMs);
  }

  /** A call that is denied here wanted permits of all its buckets. */
  #noteDemand({ policy, key, cost }: Charge, nowMs: number): void {
    const bucket = this.#find(policy, key);
    if (bucket === undefined) return;
    bucket.count(policy, cost, nowMs);
    if (bucket.wantsToAsk(nowMs)) this.#asker.list(bucket);
  }

  /** What is held for a charge, put aside; undefined where the store has to decide. */
  #putAside(charge: Charge, nowMs: number): Held | undefined {
    const bucket = this.#findHolding(charge, nowMs);
    if (bucket === undefined) return undefined;
    const { policy, cost } = charge;
    const aside = bucket.leases.putAside(cost, nowMs);
    bucket.count(policy, cost, nowMs);
    return { bucket, aside, decision: bucket.allow(policy, nowMs) };
  }

  /** @returns whether all are allowed */
  async #askAll(
    charges: readonly Charge[],
    decisions: Map<Charge, Decision>,
    sentAtMs: number,
  ): Promise<boolean> {
    const answers = await this.#store.consumeAll(charges);
    charges.forEach((charge, i) => {
      const decision = answers[i] as Decision;
      decisions.set(charge, decision);
      this.#heard(charge, decision, sentAtMs);
    });
    return answers.every(({ allowed }) => allowed);
  }

  async #putAllBack(charges: readonly Charge[], decisions: Map<Charge, Decision>): Promise<void> {
    const refund = ({ policy, key, cost }: Charge, takenAtMs: number) =>
      this.#store.refund(policy, key, cost, takenAtMs);
    await Promise.all(charges.map((charge) => putBack(charge, decisions, refund)));
  }

  async #consumeAtStore(
    policy: Policy,
    key: string,
    cost: number,
    sentAtMs: number,
  ): Promise<Decision> {
    const decision = await this.#store.consume(policy, key, cost);
    this.#heard({ policy, key, cost }, decision, sentAtMs);
    return decision;
  }

  /** Notes what the store decided without a claim. */
  #heard({ policy, key, cost }: Charge, decision: Decision, sentAtMs: number): void {
    if (cost === 0 || this.#closed) return;
    if (policy.lease !== undefined) this.#watch.left(policy, key, decision);
    const bucket = this.#findOrAdd(policy, key, sentAtMs);
    if (bucket !== undefined) {
      bucket.count(policy, cost, sentAtMs);
      if (isDenial(decision)) {
        bucket.remember(policy, cost, decision, sentAtMs, this.#clock.nowMs());
      }
      this.#asker.list(bucket);
    } else if (isDenial(decision)) {
      const nowMs = this.#clock.nowMs();
      const fitsAfterMs = cost > policy.burst ? undefined : (decision.retryAfterMs ?? 0);
      const denial = denialOf(policy, cost, decision, fitsAfterMs, 0, sentAtMs, nowMs);
      this.#denials.remember(key, denial, nowMs);
    } else {
      // What was spent puts off when a greater cost fits.
      this.#denials.forget(policy, key);
    }
  }
}

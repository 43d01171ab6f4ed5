import { randomInt } from 'node:crypto';
import type { Decision } from '../decision/decision.js';
import { MAX_TEXT } from '../key/partition-key.js';
import type { Policy } from '../policy/policy.js';
import type { Charge, Store } from '../store/store.js';
import { startSweeper } from '../store/sweeper.js';
import { type Clock, monotonicClock } from '../time/clock.js';
import { BucketBook } from './bucket-book.js';
import { denialOf } from './denial.js';
import { isLate, type PutAside } from './held-leases.js';
import type { Ask, LeasedBucket } from './leased-bucket.js';
import { RememberedDenials } from './remembered-denials.js';

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
 * The store is asked in advance, while what is held is spent on; one question a bucket is under way
 * at a time, and calls that come meanwhile wait for it together. All that one turn of the event loop
 * wants to ask goes out at its end. There is no timer for a bucket, and nothing keeps the process
 * alive.
 */
export class LeaseBook {
  readonly #store: Store;
  readonly #clock: Clock;
  /** Differs between all that hold leases of a bucket. */
  readonly #holder = randomInt(2 ** 48 - 1);
  #turn = 0;
  readonly #denials = new RememberedDenials();
  readonly #buckets = new BucketBook();
  /** Those that want to ask at the end of this turn. */
  #listed: LeasedBucket[] = [];
  readonly #inFlight = new Set<Promise<void>>();
  #sweptAtMs = Number.NEGATIVE_INFINITY;
  #stopSweeper: (() => void) | undefined;
  #closed = false;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * Decides at once, and charges, where a lease or a remembered denial allows it; else undefined,
   * with nothing charged.
   */
  tryConsume(policy: Policy, key: string, cost: number): Decision | undefined {
    if (cost === 0) return undefined;
    if (policy.lease === undefined) {
      return this.#denials.find(policy, key, cost, this.#clock);
    }
    const bucket = this.#buckets.find(policy, key);
    if (bucket === undefined) return this.#denials.find(policy, key, cost, this.#clock);
    const nowMs = this.#clock.nowMs();
    const decision = bucket.tryConsume(policy, cost, nowMs);
    if (decision !== undefined && bucket.wantsToAsk(nowMs)) this.#list(bucket);
    return decision;
  }

  /** Asks the store. To be called where `tryConsume` gave undefined. */
  consume(policy: Policy, key: string, cost: number): Promise<Decision> {
    if (cost === 0) return this.#store.consume(policy, key, cost);
    const nowMs = this.#clock.nowMs();
    const bucket = policy.lease && this.#bucketOf(policy, key, nowMs);
    if (bucket === undefined) return this.#consumeAtStore(policy, key, cost, nowMs);
    return new Promise((resolve, reject) => {
      bucket.wait({ policy, cost, resolve, reject }, nowMs);
      this.#list(bucket);
    });
  }

  /**
   * As `tryConsume`, for several buckets: all leases are looked at before any is spent. Where a
   * remembered denial decides, what is not known of the others is undefined in its place.
   */
  tryConsumeAll(charges: readonly Charge[]): readonly (Decision | undefined)[] | undefined {
    const nowMs = this.#clock.nowMs();
    const denials = charges.map((charge) => this.#deny(charge, nowMs));
    const isDenied = denials.some((denial) => denial?.allowed === false);
    const held = charges.map(({ policy, key, cost }, i) => {
      const bucket = policy.lease && this.#buckets.find(policy, key);
      return denials[i] === undefined && bucket?.holds(policy, cost, nowMs) ? bucket : undefined;
    });
    // What can never fit waits longest, and only the store knows what is left there.
    const isUnknown = ({ policy, cost }: Charge, i: number) =>
      (denials[i] ?? held[i]) === undefined && (!isDenied || cost > policy.burst);
    if (charges.some(isUnknown)) return undefined;
    if (isDenied) for (const charge of charges) this.#noteDemand(charge, nowMs);
    return charges.map((charge, i) => {
      const { policy, cost } = charge;
      const bucket = held[i];
      if (bucket === undefined) return denials[i];
      if (isDenied) return bucket.allow(policy, nowMs);
      return this.#spend(bucket, policy, cost, nowMs);
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
      const late = charges.filter((_, i) => isOverdue(held[i], this.#clock.nowMs()));
      if (allowed && late.length > 0) {
        allowed = await this.#askAll(late, decisions, this.#clock.nowMs());
        if (!allowed) await this.#putBack(asked, decisions);
      }
    } finally {
      held.forEach((own, i) => {
        const spent = allowed && !decisions.has(charges[i] as Charge);
        own?.bucket.leases.conclude(own.aside, spent);
      });
    }
    return charges.map((charge, i) => decisions.get(charge) ?? (held[i] as Held).decision);
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

  /** Puts back what was charged for a call that is denied after all. */
  async #putBack(charges: readonly Charge[], decisions: Map<Charge, Decision>): Promise<void> {
    const back = charges.map(async (charge) => {
      const { policy, key, cost } = charge;
      const { wouldDeny, decidedAtMs } = decisions.get(charge) as Decision;
      if (wouldDeny || cost === 0) return;
      decisions.set(charge, await this.#store.refund(policy, key, cost, decidedAtMs));
    });
    await Promise.all(back);
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
    const bucket = policy.lease && this.#buckets.find(policy, key);
    if (permits > 0 && bucket?.leases.unspend(permits, takenAtMs, nowMs)) {
      return bucket.allow(policy, nowMs);
    }
    if (bucket !== undefined) this.#tell(bucket, nowMs);
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
    this.#flush();
    const nowMs = this.#clock.nowMs();
    for (const bucket of this.#buckets.all()) this.#giveBack(bucket, true, nowMs);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS);
    });
    await Promise.race([this.#settled(), late]);
    clearTimeout(timer);
    this.#buckets.clear();
  }

  async #settled(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
  }

  /** Buckets kept at present. */
  get size(): number {
    return this.#buckets.size;
  }

  /**
   * Looks at the next `count` buckets: forgets those nobody asks for, returns what is over, and asks
   * again where no answer came.
   */
  sweep(count: number): void {
    const nowMs = this.#clock.nowMs();
    this.#sweptAtMs = nowMs;
    for (const bucket of this.#buckets.sweep(count, nowMs)) {
      if (bucket.isWaiting) this.#list(bucket);
      else this.#giveBack(bucket, false, nowMs);
    }
  }

  /** A call that is denied here wanted permits of all its buckets. */
  #noteDemand({ policy, key, cost }: Charge, nowMs: number): void {
    const bucket = policy.lease && this.#buckets.find(policy, key);
    if (bucket === undefined) return;
    bucket.count(policy, cost, nowMs);
    if (bucket.wantsToAsk(nowMs)) this.#list(bucket);
  }

  #deny({ policy, key, cost }: Charge, nowMs: number): Decision | undefined {
    if (cost === 0) return undefined;
    const bucket = policy.lease && this.#buckets.find(policy, key);
    if (bucket === undefined) {
      return this.#denials.find(policy, key, cost, { nowMs: () => nowMs });
    }
    return bucket.holds(policy, cost, nowMs) ? undefined : bucket.deny(policy, cost, nowMs);
  }

  /** The bucket, new where there was none; undefined where there is no room, or the key is too long. */
  #bucketOf(policy: Policy, key: string, nowMs: number): LeasedBucket | undefined {
    if (key.length > MAX_TEXT) return undefined;
    const found = this.#buckets.find(policy, key);
    if (found !== undefined) return found;
    // A clock of one's own is not moved by real time: then only what is asked sets off a sweep.
    if (this.#stopSweeper === undefined && this.#clock === monotonicClock) {
      this.#stopSweeper = startSweeper(this, SWEEP_EVERY_MS);
    }
    return this.#buckets.add(policy, key, nowMs);
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
    const denied = !decision.allowed || decision.wouldDeny;
    const nowMs = this.#clock.nowMs();
    const bucket = policy.lease && this.#bucketOf(policy, key, sentAtMs);
    if (bucket !== undefined) {
      bucket.count(policy, cost, sentAtMs);
      if (denied) bucket.remember(policy, cost, decision, sentAtMs, nowMs);
      this.#list(bucket);
    } else if (denied) {
      const fitsAfterMs = cost > policy.burst ? undefined : (decision.retryAfterMs ?? 0);
      const denial = denialOf(policy, cost, decision, fitsAfterMs, 0, sentAtMs, nowMs);
      this.#denials.remember(key, denial, nowMs);
    } else {
      // What was spent puts off when a greater cost fits.
      this.#denials.forget(policy, key);
    }
  }

  /** What is held for a charge, put aside; undefined where the store has to decide. */
  #putAside({ policy, key, cost }: Charge, nowMs: number): Held | undefined {
    const bucket = policy.lease && this.#buckets.find(policy, key);
    if (!bucket?.holds(policy, cost, nowMs)) return undefined;
    const aside = bucket.leases.putAside(cost, nowMs);
    bucket.count(policy, cost, nowMs);
    return { bucket, aside, decision: bucket.allow(policy, nowMs) };
  }

  #spend(bucket: LeasedBucket, policy: Policy, cost: number, nowMs: number): Decision {
    const decision = bucket.tryConsume(policy, cost, nowMs) as Decision;
    if (bucket.wantsToAsk(nowMs)) this.#list(bucket);
    return decision;
  }

  #list(bucket: LeasedBucket): void {
    if (bucket.listed) return;
    bucket.listed = true;
    if (this.#listed.push(bucket) === 1) setImmediate(() => this.#flush());
  }

  #flush(): void {
    const nowMs = this.#clock.nowMs();
    const listed = this.#listed;
    this.#listed = [];
    for (const bucket of listed) {
      bucket.listed = false;
      const ask = bucket.ask(nowMs);
      if (ask !== undefined) this.#send(bucket, ask);
    }
    if (nowMs - this.#sweptAtMs >= SWEEP_EVERY_MS) this.sweep(SWEEP_COUNT);
  }

  /** Tells the store what was spent, ahead of what is asked next in this turn. */
  #tell(bucket: LeasedBucket, nowMs: number): void {
    const reports = bucket.leases.report(nowMs);
    if (reports.length === 0) return;
    const { policy, key } = bucket;
    const claim = { policy, key, holder: this.#holder, turn: ++this.#turn };
    // Where it is not heard, the store writes off what it was to be told of.
    this.#store.claim({ ...claim, reports, costs: [], extra: 0 }).catch(() => undefined);
  }

  #giveBack(bucket: LeasedBucket, all: boolean, nowMs: number): void {
    const ask = bucket.giveBack(all, nowMs);
    if (ask !== undefined) this.#send(bucket, ask);
  }

  #send(bucket: LeasedBucket, ask: Ask): void {
    const { reports, extra } = ask.claim;
    // Nothing to claim or to tell: what the store does for calls that are not leased is enough.
    const plain = reports.length === 0 && extra === 0;
    const work = plain ? this.#askEach(bucket, ask) : this.#claim(bucket, ask);
    this.#inFlight.add(work);
    void work.finally(() => {
      this.#inFlight.delete(work);
      if (this.#closed) this.#finish(bucket);
      else if (bucket.isWaiting) this.#list(bucket);
    });
  }

  /** After `close`: calls that were made before it are answered, then what is left is returned. */
  #finish(bucket: LeasedBucket): void {
    const nowMs = this.#clock.nowMs();
    const ask = bucket.isWaiting ? bucket.ask(nowMs, false) : bucket.giveBack(true, nowMs);
    if (ask !== undefined) this.#send(bucket, ask);
  }

  async #claim(bucket: LeasedBucket, ask: Ask): Promise<void> {
    const { key } = bucket;
    this.#turn++;
    try {
      const claim = { ...ask.claim, key, holder: this.#holder, turn: this.#turn };
      const grant = await this.#store.claim(claim);
      bucket.answer(ask, grant, this.#clock.nowMs());
    } catch (error) {
      bucket.failed(ask, error, this.#clock.nowMs());
    }
  }

  async #askEach(bucket: LeasedBucket, { waiters, sentAtMs }: Ask): Promise<void> {
    const asked = waiters.map(async (waiter) => {
      const { policy, cost, reject } = waiter;
      try {
        const decision = await this.#store.consume(policy, bucket.key, cost);
        bucket.decided(waiter, decision, sentAtMs, this.#clock.nowMs());
      } catch (error) {
        reject(error);
      }
    });
    await Promise.all(asked);
    bucket.answered(sentAtMs);
  }
}

function isOverdue(held: Held | undefined, nowMs: number): boolean {
  return held !== undefined && isLate(held.aside, nowMs);
}

import type { Grant, LeaseReport } from '../store/store.js';

/**
 * How much of a lease's life it is spent for. The rest is for a clock that runs slower than the
 * store's: the store writes the lease off by its own.
 */
const USED_SHARE = 0.95;

/** Permits that were granted in one epoch of a bucket. */
interface HeldLease {
  readonly epoch: number;
  /** The store's clock when it was granted: what is spent of it was taken from the bucket then. */
  readonly grantedAtMs: number;
  /** Permits not spent. */
  left: number;
  /** Permits spent of which the store was not told. */
  untold: number;
  /** From here on nothing is spent. */
  deadlineMs: number;
}

/** True where the time of a lease that something was put aside of is over. */
export function isLate(aside: PutAside, nowMs: number): boolean {
  return aside.some(({ lease }) => nowMs >= lease.deadlineMs);
}

/** Permits that are put aside until it is known whether they are spent. */
export type PutAside = readonly { readonly lease: HeldLease; readonly permits: number }[];

/**
 * The permits that this replica holds of one bucket. Every permit is spent once, told of once, and
 * not spent after its lease's time, which counts from when the claim was sent.
 */
export class HeldLeases {
  /** The oldest first: it ends first. */
  readonly #leases: HeldLease[] = [];
  /** The one that is spent from. */
  #first: HeldLease | undefined;

  /** False where nothing is held that could be spent, told of or returned. */
  get isEmpty(): boolean {
    return this.#leases.length === 0;
  }

  /** Spends `cost` permits, or none where there are not as many. */
  take(cost: number, nowMs: number): boolean {
    const first = this.#first;
    if (first === undefined) return false;
    if (cost > first.left || nowMs >= first.deadlineMs) return this.#takeFromAll(cost, nowMs);
    first.left -= cost;
    first.untold += cost;
    return true;
  }

  /** Permits that can be spent at `nowMs`. */
  left(nowMs: number): number {
    let left = 0;
    for (const lease of this.#leases) if (nowMs < lease.deadlineMs) left += lease.left;
    return left;
  }

  /** True where fewer than `permits` are left in the lease that is spent from. */
  isBelow(permits: number): boolean {
    return this.#first === undefined || this.#first.left < permits;
  }

  /** True where there are leases whose time is over. */
  isOver(nowMs: number): boolean {
    return this.#leases.some(({ deadlineMs }) => nowMs >= deadlineMs);
  }

  /** The store's clock when that was granted which is spent from. */
  get grantedAtMs(): number {
    return this.#first?.grantedAtMs ?? 0;
  }

  /** @param sentAtMs when the claim was sent that this answers */
  add({ epoch, permits, lifeMs, left: { decidedAtMs } }: Grant, sentAtMs: number): void {
    // Both clocks are read in whole milliseconds: one is for what they leave out.
    const deadlineMs = sentAtMs + Math.floor(lifeMs * USED_SHARE) - 1;
    const same = this.#leases.find((lease) => lease.epoch === epoch);
    if (same === undefined) {
      const grantedAtMs = decidedAtMs;
      this.#leases.push({ epoch, grantedAtMs, left: permits, untold: 0, deadlineMs });
    } else {
      // The store writes off all that it granted in one epoch at the same time.
      same.left += permits;
      same.deadlineMs = Math.max(same.deadlineMs, deadlineMs);
    }
    this.#first = this.#leases[0];
  }

  /**
   * What the store is to be told, which then counts as told: what was spent, and what is left of
   * leases whose time is over.
   */
  report(nowMs: number): LeaseReport[] {
    const reports: LeaseReport[] = [];
    for (let i = 0; i < this.#leases.length; ) {
      const lease = this.#leases[i] as HeldLease;
      const over = nowMs >= lease.deadlineMs;
      const { epoch, untold: spent } = lease;
      const returned = over ? lease.left : 0;
      if (spent > 0 || returned > 0) reports.push({ epoch, spent, returned });
      lease.untold = 0;
      if (over) this.#leases.splice(i, 1);
      else i++;
    }
    this.#first = this.#leases[0];
    return reports;
  }

  /** As `report`, with all that is left: nothing is held then. */
  reportAll(): LeaseReport[] {
    return this.report(Number.POSITIVE_INFINITY);
  }

  /** Forgets all that is held: the bucket has begun anew. */
  drop(): void {
    this.#leases.length = 0;
    this.#first = undefined;
  }

  /**
   * Puts `cost` permits aside, which are there: neither spent nor to be spent otherwise. The store
   * counts them as out meanwhile.
   */
  putAside(cost: number, nowMs: number): PutAside {
    const aside: { lease: HeldLease; permits: number }[] = [];
    let rest = cost;
    for (const lease of this.#leases) {
      if (nowMs >= lease.deadlineMs) continue;
      const permits = Math.min(rest, lease.left);
      lease.left -= permits;
      rest -= permits;
      if (permits === 0) continue;
      aside.push({ lease, permits });
      this.#first = lease;
    }
    return aside;
  }

  /**
   * That what was put aside is spent, or is not. Where its lease has been returned meanwhile, nobody
   * is told: the store writes these permits off.
   */
  conclude(aside: PutAside, spent: boolean): void {
    for (const { lease, permits } of aside) {
      if (spent) lease.untold += permits;
      else lease.left += permits;
    }
  }

  /**
   * Takes back that permits were spent, of leases that can still be spent and were granted before.
   * @param takenAtMs by the store's clock, as their decision says; undefined: just now
   * @returns false, having done nothing, where the store was told of them, or their time is over
   */
  unspend(permits: number, takenAtMs: number | undefined, nowMs: number): boolean {
    const own = this.#leases.filter(
      ({ deadlineMs, grantedAtMs }) =>
        nowMs < deadlineMs && (takenAtMs === undefined || takenAtMs >= grantedAtMs),
    );
    if (own.reduce((sum, { untold }) => sum + untold, 0) < permits) return false;
    let rest = permits;
    for (const lease of own) {
      const back = Math.min(rest, lease.untold);
      lease.untold -= back;
      lease.left += back;
      rest -= back;
    }
    this.#first = this.#leases[0];
    return true;
  }

  #takeFromAll(cost: number, nowMs: number): boolean {
    if (cost > this.left(nowMs)) return false;
    this.conclude(this.putAside(cost, nowMs), true);
    return true;
  }
}

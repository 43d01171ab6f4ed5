import type { Decision } from '../decision/decision.js';
import type { Policy } from '../policy/policy.js';
import type { Charge } from '../store/store.js';
import { atMost } from '../time/at-most.js';
import type { LocalDecisions } from './local-decisions.js';

/** How many buckets are charged before others get their turn: their calls go out together. */
const CHUNK = 500;

/**
 * Charges the store, in this turn of the event loop. Resolves, or rejects, when that is known.
 * @param isWatched whether it is to be noticed where that takes too long: of many, one is enough
 */
export type Pay = (charge: Charge, isWatched: boolean) => Promise<Decision>;

/** The part of the store's buckets that is charged. Left out: all. */
export interface Part {
  /** Its place at present, as of `Store.placeOf`; undefined where the store is one. */
  name(): string | undefined;
  /** Something is owed to a bucket that belongs to another part by now. */
  elsewhere(key: string): void;
}

const ALL: Part = { name: () => undefined, elsewhere: () => {} };

/** What the store does not answer within this time keeps nothing else waiting. */
const PIECE_MS = 1000;

/** A payment that is under way. */
interface Payment {
  readonly charge: Charge;
  /** When it was worked out, by this replica's clock. */
  readonly atMs: number;
  /** What is known of it so far. */
  state: 'unknown' | 'paid' | 'owed';
  /** @param answer of the store; undefined where there is none */
  settle(answer: Decision | undefined): void;
}

/**
 * Charges a store with what was admitted while it could not be asked.
 *
 * A payment whose outcome is not known is not made again, or a client that sends unanswered commands
 * again would have the bucket charged several times. It is given up when the store is found once
 * more: what was asked on its connection before has been answered by then, or is lost.
 */
export class Reconciler {
  readonly #local: LocalDecisions;
  readonly #pay: Pay;
  readonly #onTooMuch: (charge: Charge, takenAtMs: number) => void;
  readonly #onDone: (buckets: number, permits: number) => void;
  readonly #part: Part;
  readonly #underWay = new Set<Payment>();
  /** Ends when all is charged, or a payment has failed. */
  #run: Promise<void> | undefined;
  #buckets = 0;
  #permits = 0;

  /**
   * @param onTooMuch told of a payment that was heard, after all, and has been made a second time
   * @param onDone told when nothing is owed any more, and something was
   */
  constructor(
    local: LocalDecisions,
    pay: Pay,
    onTooMuch: (charge: Charge, takenAtMs: number) => void,
    onDone: (buckets: number, permits: number) => void,
    part: Part = ALL,
  ) {
    this.#local = local;
    this.#pay = pay;
    this.#onTooMuch = onTooMuch;
    this.#onDone = onDone;
    this.#part = part;
  }

  /** Charges what is owed for these buckets now: what is asked later in this turn is decided behind it. */
  payFor(charges: readonly Charge[]): void {
    if (this.#local.owed.size === 0) return;
    for (const { policy, key } of charges) void this.#payOne(policy, key, true);
  }

  /**
   * Charges all that is owed, a piece at a time, and resolves when there is nothing or a payment has
   * failed. Where that is being done, it is joined.
   */
  payAll(): Promise<void> {
    if (this.#run === undefined) {
      if (this.#owed === 0) return Promise.resolve();
      const run = this.#payPieces().finally(() => {
        if (this.#run === run) this.#run = undefined;
      });
      this.#run = run;
    }
    return this.#run;
  }

  /** True where no payment is under way. */
  get isIdle(): boolean {
    return this.#underWay.size === 0;
  }

  /** True while all that is owed is being charged. */
  get isRunning(): boolean {
    return this.#run !== undefined;
  }

  /** The store has been found: payments from before it was lost are lost, too. */
  giveUp(): void {
    this.#run = undefined;
    for (const payment of [...this.#underWay]) payment.settle(undefined);
  }

  /** Buckets that something is owed to. */
  get #owed(): number {
    return this.#local.owed.sizeAt(this.#part.name());
  }

  async #payPieces(): Promise<void> {
    while (this.#owed > 0) {
      const { name, elsewhere } = this.#part;
      const first = this.#local.owed.firstAt(name(), CHUNK, elsewhere);
      const payments = first.map(({ policy, key }, i) => this.#payOne(policy, key, i === 0));
      let areAllPaid = false;
      const all = Promise.all(payments).then((paid) => {
        areAllPaid = paid.every(Boolean);
      });
      await atMost(PIECE_MS, all);
      if (!areAllPaid) return;
    }
  }

  /** @returns false where it is owed again */
  #payOne(policy: Policy, key: string, isWatched: boolean): Promise<boolean> {
    const cost = this.#local.due(policy, key);
    if (cost === 0) {
      this.#tellDone();
      return Promise.resolve(true);
    }
    const charge = { policy, key, cost };
    return new Promise((resolve) => {
      const payment: Payment = {
        charge,
        atMs: this.#local.nowMs,
        state: 'unknown',
        settle: (answer) => {
          this.#settle(payment, answer);
          resolve(answer !== undefined);
        },
      };
      this.#underWay.add(payment);
      const pay = async () => this.#pay(charge, isWatched);
      pay().then(
        (answer) => payment.settle(answer),
        () => payment.settle(undefined),
      );
    });
  }

  #settle(payment: Payment, answer: Decision | undefined): void {
    const { charge, state } = payment;
    const paid = answer !== undefined;
    this.#underWay.delete(payment);
    if (state === 'unknown') {
      payment.state = paid ? 'paid' : 'owed';
      if (paid) this.#paid(payment, answer);
      else this.#local.owed.add(charge);
    } else if (state === 'owed' && paid) {
      // It was given up, and is owed again or was paid again.
      payment.state = 'paid';
      this.#onTooMuch({ ...charge, cost: this.#local.owed.take(charge) }, answer.decidedAtMs);
    }
  }

  #paid({ charge, atMs }: Payment, { decidedAtMs }: Decision): void {
    const { policy, key, cost } = charge;
    this.#local.paid(policy, key, atMs, decidedAtMs);
    this.#buckets++;
    this.#permits += cost;
    this.#tellDone();
  }

  #tellDone(): void {
    if (this.#buckets === 0 || this.#underWay.size > 0 || this.#owed > 0) return;
    this.#onDone(this.#buckets, this.#permits);
    this.#buckets = 0;
    this.#permits = 0;
  }
}

import type { Decision } from '../decision/decision.js';
import { isStoreFailure, type RateLimitError, type StoreFault } from '../errors.js';
import type { Policy } from '../policy/policy.js';
import type { Charge, Store } from '../store/store.js';
import { atMost } from '../time/at-most.js';
import { later } from '../time/background.js';
import type { Clock } from '../time/clock.js';
import { RETURN_MS, type StoreState } from './breaker.js';
import { Corrections, type GiveBack } from './corrections.js';
import { type AnswerForm, GuardedCall, type Guarding, ONE, SEVERAL } from './guarded-call.js';
import { LocalDecisions } from './local-decisions.js';
import type { FallbackTerms } from './options.js';
import { Reconciler } from './reconciler.js';
import { type ReplicaWatch, watchReplicas } from './replica-count.js';
import { StoreLink } from './store-link.js';
import { Teller } from './teller.js';

/** The longest that `close` waits for the store to be charged. */
const CLOSE_MS = 1000;

/** How soon the store is charged for what was admitted because of a failure that did not lose it. */
const PAY_AFTER_MS = 50;

/**
 * Stands between a limiter and a store that is elsewhere. Every decision is there by its deadline,
 * whatever the store does, and says so where the store had no part in it; what was admitted without
 * the store is charged to it when it is back.
 */
export class Fallback {
  readonly #store: Store;
  readonly #terms: FallbackTerms;
  readonly #link: StoreLink;
  readonly #local: LocalDecisions;
  readonly #reconciler: Reconciler;
  readonly #teller: Teller;
  readonly #guarding: Guarding;
  #watch: ReplicaWatch | undefined;
  #isCounted = false;
  /** What the store was charged with and is not told yet. */
  #paid = { buckets: 0, permits: 0 };
  readonly #corrections: Corrections;
  #payTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /**
   * @param policies of the limiter
   * @param giveBack for calls that the store charged too late
   */
  constructor(
    store: Store,
    clock: Clock,
    terms: FallbackTerms,
    policies: Iterable<Policy>,
    giveBack: GiveBack,
  ) {
    this.#store = store;
    this.#terms = terms;
    this.#teller = new Teller(terms.onEvent);
    this.#local = new LocalDecisions(store, clock, terms.mode);
    // Where nothing is ever admitted without the store, there is nothing to wait for.
    const isClosed = [...policies].every((policy) => this.#local.modeOf(policy) === 'closed');
    this.#link = new StoreLink({
      store,
      clock,
      deadlineMs: terms.deadlineMs,
      returnMs: isClosed ? 0 : RETURN_MS,
      tell: (event) => {
        this.#teller.tell(event);
        if (event.type === 'store-lost' && !this.#isCounted) this.#uncounted(event.error);
      },
      onFound: () => this.#found(),
      mayReturn: () => !this.#reconciler.isRunning,
      onBack: () => {
        this.#reconciled(0, 0);
        void this.#reconciler.payAll();
      },
    });
    this.#corrections = new Corrections(() => this.#link.state === 'lost', giveBack);
    this.#guarding = {
      learn: ({ policy, key }, decision) => this.#local.learn(policy, key, decision),
      decide: (charges, fault) => {
        this.#payLater();
        return this.#local.decide(charges, fault);
      },
      makeUp: (charges, instead, decisions) => this.#makeUp(charges, instead, decisions),
    };
    this.#reconciler = new Reconciler(
      this.#local,
      (charge, isWatched) => this.#pay(charge, isWatched),
      (charge, takenAtMs) => this.#corrections.make(charge, takenAtMs),
      (buckets, permits) => this.#reconciled(buckets, permits),
    );
  }

  get state(): StoreState {
    return this.#link.state;
  }

  /** Among how many replicas the quota is divided at present. */
  get replicas(): number {
    return this.#local.replicas;
  }

  /** Buckets that permits are owed to. */
  get owed(): number {
    return this.#isInUse ? this.#local.owed.size : 0;
  }

  /** Permits that were owed and cannot be charged, for want of room. It only rises. */
  get forgotten(): number {
    return this.#isInUse ? this.#local.owed.forgotten : 0;
  }

  /** As of a lease book's `StoreWatch`, and so are the four below. */
  get answerWithinMs(): number {
    return this.#terms.deadlineMs;
  }

  mayAsk(): boolean {
    return this.#link.state === 'up';
  }

  get refusal(): RateLimitError {
    return this.#link.refusal;
  }

  left(policy: Policy, key: string, decision: Decision): void {
    // What is leased is not counted into what is left: it is spent besides.
    if (this.#isInUse && decision.origin !== 'lease') this.#local.learn(policy, key, decision);
  }

  failed(error: unknown): void {
    if (isStoreFailure(error)) this.#link.failed(error);
  }

  /** The decisions without the store, at once, where it is not to be asked; else undefined. */
  tryDecide(charges: readonly Charge[]): readonly Decision[] | undefined {
    this.#link.look();
    if (this.mayAsk()) return undefined;
    const decisions = this.#local.decide(charges, this.#link.lastFault);
    if (this.#link.state === 'returning') this.#reconciler.payFor(charges);
    return decisions;
  }

  /** The store's decision, or the one without it where that is not there by the deadline. */
  guardOne(charge: Charge, ask: () => Promise<Decision>): Promise<Decision> {
    return this.#guard([charge], ask, ONE);
  }

  /** As `guardOne`, for several buckets of one call. */
  guardAll(
    charges: readonly Charge[],
    ask: () => Promise<readonly Decision[]>,
  ): Promise<readonly Decision[]> {
    return this.#guard(charges, ask, SEVERAL);
  }

  /**
   * The answer to what only the store can do, by the deadline.
   * Rejects with `RL_STORE_FAILED` where there is none, at once where the store is not asked.
   */
  within<Answer>(key: string, ask: () => Promise<Answer>): Promise<Answer> {
    this.#link.look();
    if (this.#link.state === 'lost') return Promise.reject(this.#link.refusal);
    return new Promise((resolve, reject) => {
      const answered = (answer: Answer) => {
        resolve(answer);
        return true;
      };
      this.#link.ask({ key, ask, answered, failed: reject });
    });
  }

  /**
   * Puts permits back.
   * @param taken the decision that took them, where it is known
   * @param ask has the store do it, where it was the store that took them
   */
  async refund(
    charge: Charge,
    taken: Decision | undefined,
    ask: () => Promise<Decision>,
  ): Promise<Decision> {
    if (taken?.fallback === undefined) return this.#refundAtStore(charge, taken, ask);
    const { decision, charged } = await this.#local.refund(charge, taken);
    this.#corrections.make({ ...charge, cost: charged }, this.#local.chargedAtMs(charge, taken));
    return decision;
  }

  /**
   * Where the answer is late, the store may have heard all the same: it is not asked again. Where it
   * is not asked, it is when it is found.
   */
  #refundAtStore(
    charge: Charge,
    taken: Decision | undefined,
    ask: () => Promise<Decision>,
  ): Promise<Decision> {
    this.#link.look();
    if (this.#link.state === 'lost') {
      this.#corrections.make(charge, taken?.decidedAtMs);
      return Promise.resolve(this.#lookHere(charge, this.#link.lastFault));
    }
    return this.#correct(charge, ask, (fault) => this.#lookHere(charge, fault));
  }

  #lookHere(charge: Charge, fault: StoreFault): Decision {
    this.#count();
    return this.#local.decide([{ ...charge, cost: 0 }], fault)[0] as Decision;
  }

  /** Takes permits, fit or not: of the store, or without it, which is charged later. */
  overcharge(charge: Charge, ask: () => Promise<Decision>): Promise<Decision> {
    this.#link.look();
    if (!this.mayAsk()) {
      const decision = this.#overchargeHere(charge, this.#link.lastFault);
      if (this.#link.state === 'returning') this.#reconciler.payFor([charge]);
      return decision;
    }
    const instead = (fault: StoreFault) => this.#overchargeHere(charge, fault);
    return this.#correct(charge, ask, instead, ({ decidedAtMs }) => {
      this.#corrections.make({ ...charge, cost: this.#local.owed.take(charge) }, decidedAtMs);
    });
  }

  /** Asks what changes a bucket. @param instead what it resolves to where the store does not answer */
  #correct(
    { policy, key }: Charge,
    ask: () => Promise<Decision>,
    instead: (fault: StoreFault) => Decision | Promise<Decision>,
    late: (decision: Decision) => void = () => {},
  ): Promise<Decision> {
    return new Promise((resolve, reject) => {
      const answered = (decision: Decision) => {
        this.left(policy, key, decision);
        resolve(decision);
        return true;
      };
      const failed = (error: Error) =>
        isStoreFailure(error) ? resolve(instead(faultOf(error))) : reject(error);
      this.#link.ask({ key, ask, answered, failed, late });
    });
  }

  #overchargeHere(charge: Charge, fault: StoreFault): Promise<Decision> {
    this.#count();
    this.#payLater();
    return this.#local.overcharge(charge, fault);
  }

  /** A bucket begins anew. */
  reset(policy: Policy, key: string): void {
    if (this.#isInUse) this.#local.reset(policy, key);
  }

  /**
   * Charges what is owed, where the store answers, and ends what goes on in the background. Resolves
   * after a second at the latest; what is owed then is not charged.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#link.close();
    clearTimeout(this.#payTimer);
    this.#watch?.stop();
    if (!this.#isInUse || this.#link.state === 'lost') return;
    await atMost(CLOSE_MS, this.#reconciler.payAll());
  }

  #guard<Answer>(
    charges: readonly Charge[],
    ask: () => Promise<Answer>,
    form: AnswerForm<Answer>,
  ): Promise<Answer> {
    this.#count();
    this.#reconciler.payFor(charges);
    return new Promise((resolve, reject) => {
      this.#link.ask(new GuardedCall(this.#guarding, charges, ask, form, resolve, reject));
    });
  }

  /** The store has decided, too late, on a call that was decided without it: one of them is too much. */
  #makeUp(
    charges: readonly Charge[],
    instead: readonly Decision[],
    decisions: readonly Decision[],
  ): void {
    if (!decisions.every(({ allowed }) => allowed)) return;
    const wasAdmitted = instead.every(({ allowed }) => allowed);
    charges.forEach((charge, i) => {
      const { wouldDeny, decidedAtMs } = decisions[i] as Decision;
      if (wouldDeny) return;
      const isOwed = wasAdmitted && !instead[i]?.wouldDeny;
      const cost = isOwed ? this.#local.owed.take(charge) : charge.cost;
      this.#corrections.make({ ...charge, cost }, decidedAtMs);
    });
  }

  /**
   * Charges the store for what was admitted without it.
   * @param isWatched whether its failure, or that it takes too long, says something of the store
   */
  #pay({ policy, key, cost }: Charge, isWatched: boolean): Promise<Decision> {
    const paid = this.#store.overcharge(policy, key, cost);
    if (isWatched) this.#link.ask({ key, ask: () => paid, answered: () => true, failed: () => {} });
    return paid;
  }

  /** A failure need not lose the store: then nothing else has it charged, if nobody asks for the bucket. */
  #payLater(): void {
    if (this.#payTimer !== undefined || !this.mayAsk()) return;
    this.#payTimer = later(this, PAY_AFTER_MS, Fallback.#payNow);
  }

  /** Charges what is owed, as long as the store is up and there is something. */
  static async #payNow(fallback: Fallback): Promise<void> {
    fallback.#payTimer = undefined;
    if (!fallback.mayAsk() || fallback.#isClosed) return;
    await fallback.#reconciler.payAll();
    if (fallback.owed > 0) fallback.#payLater();
  }

  #found(): void {
    this.#corrections.makeAll();
    this.#reconciler.giveUp();
    void this.#reconciler.payAll();
  }

  /** While the store is returning each decision is paid for: that is told in sum, when it is back. */
  #reconciled(buckets: number, permits: number): void {
    this.#paid.buckets += buckets;
    this.#paid.permits += permits;
    if (!this.mayAsk() || this.#paid.buckets === 0) return;
    this.#teller.tell({ type: 'reconciled', ...this.#paid });
    this.#paid = { buckets: 0, permits: 0 };
  }

  /** False with a store in memory, which answers all by itself. */
  get #isInUse(): boolean {
    return this.#watch !== undefined;
  }

  /** Learns the number of replicas, from the first question on: what asks nothing starts nothing. */
  #count(): void {
    if (this.#watch !== undefined || this.#isClosed) return;
    const { replicas } = this.#terms;
    const beat = this.#store.heartbeat?.bind(this.#store);
    this.#watch = watchReplicas({
      source: replicas ?? beat ?? 1,
      isHeartbeat: replicas === undefined && beat !== undefined,
      onCount: (count) => {
        this.#isCounted = true;
        this.#local.replicas = count;
        this.#teller.tell({ type: 'replicas', replicas: count });
      },
      onFailure: (error) => this.#uncounted(error),
    });
  }

  #uncounted(error: Error): void {
    this.#teller.tell({ type: 'replicas-unknown', replicas: this.#local.replicas, error });
  }
}

function faultOf({ fault = 'other' }: RateLimitError): StoreFault {
  return fault;
}

import type { Decision } from '../decision/decision.js';
import { isStoreFailure, type RateLimitError, type StoreFault } from '../errors.js';
import type { StoreWatcher } from '../metrics/store-watcher.js';
import type { Policy } from '../policy/policy.js';
import type { Charge, Examination, Store } from '../store/store.js';
import { atMost } from '../time/at-most.js';
import type { Clock } from '../time/clock.js';
import { RETURN_MS, type StoreState } from './breaker.js';
import type { GiveBack } from './corrections.js';
import type { StoreEvent } from './events.js';
import { type AnswerForm, GuardedCall, type Guarding, ONE, SEVERAL } from './guarded-call.js';
import { LocalDecisions } from './local-decisions.js';
import type { FallbackTerms } from './options.js';
import { Places } from './places.js';
import { ReplicaCounter } from './replica-counter.js';
import { Teller } from './teller.js';
import { Together } from './together.js';

/** The longest that `close` waits for the store to be charged. */
const CLOSE_MS = 1000;

/**
 * Stands between a limiter and a store that is elsewhere. Every decision is there by its deadline,
 * whatever the store does, and says so where the store had no part in it; what was admitted without
 * the store is charged to it when it is back.
 */
export class Fallback {
  readonly #terms: FallbackTerms;
  readonly #places: Places;
  readonly #together: Together;
  readonly #local: LocalDecisions;
  readonly #guarding: Guarding;
  readonly #counter: ReplicaCounter;

  /**
   * @param policies of the limiter
   * @param watcher is told how the store answers
   * @param decided is told what became of each call that waited, once
   * @param giveBack for calls that the store charged too late
   */
  constructor(
    store: Store,
    clock: Clock,
    terms: FallbackTerms,
    policies: Iterable<Policy>,
    watcher: StoreWatcher,
    decided: Guarding['decided'],
    giveBack: GiveBack,
  ) {
    this.#terms = terms;
    this.#local = new LocalDecisions(store, clock, terms.mode);
    // Where nothing is ever admitted without the store, there is nothing to wait for.
    const isClosed = [...policies].every((policy) => this.#local.modeOf(policy) === 'closed');
    const teller = new Teller(terms.onEvent);
    this.#counter = new ReplicaCounter(store, terms.replicas, this.#local, teller);
    const tell = (event: StoreEvent) => {
      teller.tell(event);
      if (event.type === 'store-failed') watcher.failed(event.fault);
      if (event.type === 'store-lost') this.#counter.storeLost(event.error);
    };
    this.#places = new Places({
      store,
      clock,
      deadlineMs: terms.deadlineMs,
      returnMs: isClosed ? 0 : RETURN_MS,
      local: this.#local,
      watcher,
      giveBack,
      tell,
    });
    this.#together = new Together(this.#places.deadlines, watcher, tell);
    this.#guarding = {
      decided,
      learn: ({ policy, key }, decision) => this.#local.learn(policy, key, decision),
      decide: (charges, fault) => {
        for (const place of this.#places.ofAll(charges)) place.payLater();
        return this.#local.decide(charges, fault);
      },
      makeUp: (charges, instead, decisions) => this.#makeUp(charges, instead, decisions),
    };
  }

  /** How it stands with the store, or with the part of it that is worst off. */
  get state(): StoreState {
    return this.#places.state;
  }

  /** How it stands with each part that it was asked for lately. Undefined where the store is one. */
  get places(): Readonly<Record<string, StoreState>> | undefined {
    return this.#places.states;
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

  mayAsk(key: string): boolean {
    return this.#places.of(key).state === 'up';
  }

  refusal(key: string): RateLimitError {
    return this.#places.of(key).link.refusal;
  }

  left(policy: Policy, key: string, decision: Decision): void {
    // What is leased is not counted into what is left: it is spent besides.
    if (this.#isInUse && decision.origin !== 'lease') this.#local.learn(policy, key, decision);
  }

  failed(error: unknown, claim: Pick<Charge, 'policy' | 'key'>): void {
    if (!isStoreFailure(error)) return;
    const place = this.#places.of(claim.key);
    place.link.failed(error, claim.key, place.shares(claim));
  }

  /**
   * The decisions without the store, at once, where it is not to be asked of one of the buckets; else
   * undefined.
   */
  tryDecide(charges: readonly Charge[]): readonly Decision[] | undefined {
    const places = this.#places.ofAll(charges);
    for (const { link } of places) link.look();
    const away = places.find(({ state }) => state !== 'up');
    if (away === undefined) return undefined;
    const decisions = this.#local.decide(charges, away.link.lastFault);
    this.#payFor(charges);
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

  /** What a call would meet, which is not made: at the store, or without it. */
  examine(charge: Charge, ask: () => Promise<Examination>): Promise<Examination> {
    const { key } = charge;
    this.#counter.start();
    const place = this.#places.of(key);
    const { link } = place;
    link.look();
    const without = (fault: StoreFault): Examination => {
      return { decision: this.#local.examine(charge, fault), out: undefined };
    };
    if (link.state !== 'up') return Promise.resolve(without(link.lastFault));
    place.payFor([charge]);
    const answered = ({ decision }: Examination) => decision.origin === 'store';
    return this.#askOr(charge, ask, answered, without);
  }

  /**
   * The answer to what only the store can do, by the deadline.
   * Rejects with `RL_STORE_FAILED` where there is none, at once where the store is not asked.
   */
  within<Answer>(
    about: Pick<Charge, 'policy' | 'key'>,
    ask: () => Promise<Answer>,
  ): Promise<Answer> {
    const { key } = about;
    const place = this.#places.of(key);
    const { link } = place;
    link.look();
    if (link.state === 'lost') return Promise.reject(link.refusal);
    return new Promise((resolve, reject) => {
      const answered = (answer: Answer) => {
        resolve(answer);
        return true;
      };
      link.ask({ key, ask, answered, failed: reject }, place.shares(about));
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
    // A region's store decides without its home store, and takes back what it admitted so.
    if (taken?.fallback === undefined || taken.fallback.mode === 'region') {
      return this.#refundAtStore(charge, taken, ask);
    }
    const { decision, charged } = await this.#local.refund(charge, taken);
    this.#places.corrections.make(
      { ...charge, cost: charged },
      this.#local.chargedAtMs(charge, taken),
    );
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
    const { link } = this.#places.of(charge.key);
    link.look();
    if (link.state === 'lost') {
      this.#places.corrections.make(charge, taken?.decidedAtMs);
      return Promise.resolve(this.#lookHere(charge, link.lastFault));
    }
    return this.#correct(charge, ask, (fault) => this.#lookHere(charge, fault));
  }

  #lookHere(charge: Charge, fault: StoreFault): Decision {
    this.#counter.start();
    return this.#local.decide([{ ...charge, cost: 0 }], fault)[0] as Decision;
  }

  /** Takes permits, fit or not: of the store, or without it, which is charged later. */
  overcharge(charge: Charge, ask: () => Promise<Decision>): Promise<Decision> {
    const { link } = this.#places.of(charge.key);
    link.look();
    if (link.state !== 'up') {
      const decision = this.#overchargeHere(charge, link.lastFault);
      this.#payFor([charge]);
      return decision;
    }
    const instead = (fault: StoreFault) => this.#overchargeHere(charge, fault);
    return this.#correct(charge, ask, instead, ({ decidedAtMs }) => {
      this.#places.corrections.make(
        { ...charge, cost: this.#local.owed.take(charge) },
        decidedAtMs,
      );
    });
  }

  /** Asks what changes a bucket. @param instead what it resolves to where the store does not answer */
  #correct(
    charge: Charge,
    ask: () => Promise<Decision>,
    instead: (fault: StoreFault) => Decision | Promise<Decision>,
    late?: (decision: Decision) => void,
  ): Promise<Decision> {
    const answered = (decision: Decision) => {
      this.left(charge.policy, charge.key, decision);
      return true;
    };
    return this.#askOr(charge, ask, answered, instead, late);
  }

  /** Asks about one bucket. @param answered, late as of `Question` */
  #askOr<Answer>(
    { policy, key }: Charge,
    ask: () => Promise<Answer>,
    answered: (answer: Answer) => boolean,
    instead: (fault: StoreFault) => Answer | Promise<Answer>,
    late: (answer: Answer) => void = () => {},
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const question = {
        key,
        ask,
        answered(answer: Answer) {
          const isOfStore = answered(answer);
          resolve(answer);
          return isOfStore;
        },
        failed: (error: Error) =>
          isStoreFailure(error) ? resolve(instead(faultOf(error))) : reject(error),
        late,
      };
      const place = this.#places.of(key);
      place.link.ask(question, place.shares({ policy }));
    });
  }

  #overchargeHere(charge: Charge, fault: StoreFault): Promise<Decision> {
    this.#counter.start();
    this.#places.of(charge.key).payLater();
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
    this.#places.close();
    this.#counter.stop();
    if (!this.#isInUse) return;
    const there = this.#places.all().filter(({ state }) => state !== 'lost');
    await atMost(CLOSE_MS, Promise.all(there.map((place) => place.payAll())));
  }

  #guard<Answer>(
    charges: readonly Charge[],
    ask: () => Promise<Answer>,
    form: AnswerForm<Answer>,
  ): Promise<Answer> {
    this.#counter.start();
    const places = this.#places.ofAll(charges);
    const only = places.length === 1 ? places[0] : undefined;
    if (only === undefined) this.#payFor(charges);
    else only.payFor(charges);
    return new Promise((resolve, reject) => {
      const call = new GuardedCall(this.#guarding, charges, ask, form, resolve, reject);
      if (only !== undefined) only.link.ask(call, only.shares(...charges));
      else this.#together.ask(call, charges, ({ key }) => this.#places.of(key));
    });
  }

  /** Charges what is owed for these buckets now, where it can be: ahead of what is asked later. */
  #payFor(charges: readonly Charge[]): void {
    for (const charge of charges) {
      const place = this.#places.of(charge.key);
      if (place.state !== 'lost') place.payFor([charge]);
    }
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
      this.#places.corrections.make({ ...charge, cost }, decidedAtMs);
    });
  }

  /** False with a store in memory, which answers all by itself. */
  get #isInUse(): boolean {
    return this.#counter.isCounting;
  }
}

function faultOf({ fault = 'other' }: RateLimitError): StoreFault {
  return fault;
}

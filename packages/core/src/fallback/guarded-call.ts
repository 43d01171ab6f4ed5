import type { Decision } from '../decision/decision.js';
import { isStoreFailure, type StoreFault } from '../errors.js';
import type { Charge } from '../store/store.js';
import type { Question } from './asked.js';

/** How a call's answer is made of decisions: it falls under one policy, or under several. */
export interface AnswerForm<Answer> {
  decisionsOf(answer: Answer): readonly Decision[];
  answerOf(decisions: readonly Decision[]): Answer;
}

export const ONE: AnswerForm<Decision> = {
  decisionsOf: (decision) => [decision],
  answerOf: ([decision]) => decision as Decision,
};
export const SEVERAL: AnswerForm<readonly Decision[]> = {
  decisionsOf: (decisions) => decisions,
  answerOf: (decisions) => decisions,
};

/** What a call does about its answer. */
export interface Guarding {
  /** The call is decided, by the store or without it. */
  decided(charges: readonly Charge[], decisions: readonly Decision[]): void;
  /** The store said what is left of a bucket. */
  learn(charge: Charge, decision: Decision): void;
  /** Decides without the store. */
  decide(charges: readonly Charge[], fault: StoreFault): readonly Decision[];
  /** The store decided as well, too late. */
  makeUp(
    charges: readonly Charge[],
    instead: readonly Decision[],
    decisions: readonly Decision[],
  ): void;
}

/** A call that waits for the store, and is decided without it where that takes too long. */
export class GuardedCall<Answer> implements Question<Answer> {
  readonly ask: () => Promise<Answer>;
  readonly #guarding: Guarding;
  readonly #charges: readonly Charge[];
  readonly #form: AnswerForm<Answer>;
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (error: Error) => void;
  #instead: readonly Decision[] = [];
  #decisions: readonly Decision[] = [];

  constructor(
    guarding: Guarding,
    charges: readonly Charge[],
    ask: () => Promise<Answer>,
    form: AnswerForm<Answer>,
    resolve: (answer: Answer) => void,
    reject: (error: Error) => void,
  ) {
    this.ask = ask;
    this.#guarding = guarding;
    this.#charges = charges;
    this.#form = form;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get key(): string {
    return (this.#charges[0] as Charge).key;
  }

  /** Where all was decided by leases, one that was asked for earlier may have come late. */
  answered(answer: Answer): boolean {
    const decisions = this.#form.decisionsOf(answer);
    this.#decisions = decisions;
    let isOfStore = false;
    for (let i = 0; i < decisions.length; i++) {
      const decision = decisions[i] as Decision;
      if (decision.origin !== 'store') continue;
      isOfStore = true;
      const charge = this.#charges[i] as Charge;
      // Of a leased bucket the lease book says what is left, besides what it holds.
      if (charge.policy.lease === undefined) this.#guarding.learn(charge, decision);
    }
    this.#guarding.decided(this.#charges, decisions);
    this.#resolve(answer);
    return isOfStore;
  }

  /** Whether a charge was decided there, in time, rather than by a lease. */
  wasDecidedByStore(charge: Charge): boolean {
    return this.#decisions[this.#charges.indexOf(charge)]?.origin === 'store';
  }

  failed(error: Error): void {
    if (!isStoreFailure(error)) {
      this.#reject(error);
      return;
    }
    this.#instead = this.#guarding.decide(this.#charges, error.fault ?? 'other');
    this.#guarding.decided(this.#charges, this.#instead);
    this.#resolve(this.#form.answerOf(this.#instead));
  }

  late(answer: Answer): void {
    this.#guarding.makeUp(this.#charges, this.#instead, this.#form.decisionsOf(answer));
  }
}

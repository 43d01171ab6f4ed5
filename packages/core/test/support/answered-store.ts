import { makeDecision } from '../../src/algorithms/make-decision.js';
import type { Decision } from '../../src/decision/decision.js';
import type { Limiter } from '../../src/limiter/limiter.js';
import type { Policy } from '../../src/policy/policy.js';
import type { Charge, Claim, Grant, Store } from '../../src/store/store.js';
import { everyTurn } from './virtual-time.js';

/** The store's clock: no replica's is anywhere near. */
export const STORE_MS = 5_000;

/** What the store was asked. A test answers it once, or never. */
class Question<Asked, Answer> {
  readonly asked: Asked;
  readonly promise: Promise<Answer>;
  #resolve: (answer: Answer) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(asked: Asked) {
    this.asked = asked;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Ends when the replica has done what it does about it. */
  async answer(answer: Answer): Promise<void> {
    this.#resolve(answer);
    await everyTurn();
  }

  async fail(error: Error): Promise<void> {
    this.#reject(error);
    await everyTurn();
  }
}

type Asked<Q, A> = Question<Q, A>[];

/** A store elsewhere, whose answers to checks and claims a test gives by hand. */
export class AnsweredStore implements Store {
  readonly #claims: Asked<Claim, Grant | undefined> = [];
  readonly #checks: Asked<Charge, Decision> = [];
  readonly #lists: Asked<readonly Charge[], readonly Decision[]> = [];
  /** Permits that came back, and when it says they were taken. */
  readonly refunds: { permits: number; takenAtMs: number | undefined }[] = [];

  /** The claim that came, where it is the one question that was not looked at yet. */
  claimed(): Promise<Question<Claim, Grant | undefined>> {
    return this.#only(this.#claims, 'claim');
  }

  /** As `claimed`, a check of one bucket. */
  checked(): Promise<Question<Charge, Decision>> {
    return this.#only(this.#checks, 'check');
  }

  /** The first check of those that came. */
  async checkedAny(): Promise<Question<Charge, Decision>> {
    await this.unseen();
    const first = this.#checks.shift();
    if (first === undefined) throw new Error('no check came');
    return first;
  }

  /** As `claimed`, a check of several. */
  checkedAll(): Promise<Question<readonly Charge[], readonly Decision[]>> {
    return this.#only(this.#lists, 'check of several');
  }

  /** As `checkedAny`, of several buckets. @param mayWait false where it is known to have come */
  async checkedAllAny(mayWait = true): Promise<Question<readonly Charge[], readonly Decision[]>> {
    if (mayWait) await this.unseen();
    const first = this.#lists.shift();
    if (first === undefined) throw new Error('no check of several came');
    return first;
  }

  /** How many questions came that were not looked at yet. */
  async unseen(): Promise<number> {
    await everyTurn();
    return this.#claims.length + this.#checks.length + this.#lists.length;
  }

  tryConsume(): undefined {}
  tryConsumeAll(): undefined {}

  consume(policy: Policy, key: string, cost: number): Promise<Decision> {
    return this.#ask(this.#checks, { policy, key, cost });
  }

  consumeAll(charges: readonly Charge[]): Promise<readonly Decision[]> {
    return this.#ask(this.#lists, charges);
  }

  claim(claim: Claim): Promise<Grant | undefined> {
    return this.#ask(this.#claims, claim);
  }

  async refund(
    policy: Policy,
    _key: string,
    permits: number,
    takenAtMs: number | undefined,
  ): Promise<Decision> {
    this.refunds.push({ permits, takenAtMs });
    return fits(policy);
  }

  async overcharge(policy: Policy): Promise<Decision> {
    return fits(policy);
  }

  async reset(): Promise<void> {}

  async close(): Promise<void> {}

  #ask<Q, A>(list: Asked<Q, A>, asked: Q): Promise<A> {
    const question = new Question<Q, A>(asked);
    list.push(question);
    return question.promise;
  }

  async #only<Q, A>(list: Asked<Q, A>, kind: string): Promise<Question<Q, A>> {
    const unseen = await this.unseen();
    const [only] = list;
    if (only === undefined || unseen !== 1) {
      throw new Error(`one ${kind} was to come: ${list.length} did, of ${unseen} questions`);
    }
    list.pop();
    return only;
  }
}

/** As many calls of one permit at once: demand enough for some permits in advance. */
export function together(limiter: Limiter, count: number, policy = 'p'): Promise<Decision>[] {
  return Array.from({ length: count }, () => limiter.consume({ [policy]: 'k' }));
}

/** The store's decision that a cost fitted. */
export function fits(policy: Policy, remaining = 5): Decision {
  return makeDecision(policy, true, remaining, undefined, 100, 500, STORE_MS, 'store');
}

/** The store's decision that it did not. */
export function doesNotFit(policy: Policy, retryAfterMs: number): Decision {
  return makeDecision(policy, false, 0, retryAfterMs, 100, 1000, STORE_MS, 'store');
}

/**
 * The answer to a claim. Unless `answer` says otherwise what waits fits, all that was wanted is
 * granted, for a second, and there is more.
 */
export function grantOf({ policy, costs, extra }: Claim, answer: Partial<Grant> = {}): Grant {
  const left = fits(policy);
  const decisions = costs.map(() => left);
  return { decisions, permits: extra, epoch: 1, lifeMs: 1000, left, ...answer };
}

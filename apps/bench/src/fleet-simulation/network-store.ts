import type { Charge, Decision, Policy, Store } from '@rl/core';
import type { Link } from './network.js';

type Claim = Parameters<Store['claim']>[0];
type Grant = Awaited<ReturnType<Store['claim']>>;

/** Asks the store, and gives what hands its answer to who waits for it. */
type Question = (store: Store) => Promise<() => void>;

/**
 * What one replica sees of a store that is elsewhere. What it asks in one turn of the event loop
 * travels together, as one call; it is decided on arrival, and the answers travel back together.
 */
export class NetworkStore implements Store {
  readonly #link: Link;
  readonly #store: Store;
  /** Lets those who got an answer go on, before time does. */
  readonly #settle: () => Promise<void>;
  readonly #unsent: (store: NetworkStore) => void;
  #outbox: Question[] = [];
  #cut = false;

  /** @param unsent told where there is something to be sent */
  constructor(
    link: Link,
    store: Store,
    settle: () => Promise<void>,
    unsent: (store: NetworkStore) => void,
  ) {
    this.#link = link;
    this.#store = store;
    this.#settle = settle;
    this.#unsent = unsent;
  }

  tryConsume(): undefined {
    return undefined;
  }

  tryConsumeAll(): undefined {
    return undefined;
  }

  consume(policy: Policy, key: string, cost: number): Promise<Decision> {
    return this.#ask(async (store) => fromStore(await store.consume(policy, key, cost)));
  }

  consumeAll(charges: readonly Charge[]): Promise<readonly Decision[]> {
    return this.#ask(async (store) => (await store.consumeAll(charges)).map(fromStore));
  }

  claim(claim: Claim): Promise<Grant> {
    return this.#ask(async (store) => {
      const grant = await store.claim(claim);
      if (grant === undefined) return undefined;
      return { ...grant, decisions: grant.decisions.map(fromStore), left: fromStore(grant.left) };
    });
  }

  refund(
    policy: Policy,
    key: string,
    permits: number,
    takenAtMs: number | undefined,
  ): Promise<Decision> {
    return this.#ask(async (store) =>
      fromStore(await store.refund(policy, key, permits, takenAtMs)),
    );
  }

  overcharge(policy: Policy, key: string, permits: number): Promise<Decision> {
    return this.#ask(async (store) => fromStore(await store.overcharge(policy, key, permits)));
  }

  reset(policy: Policy, key: string): Promise<void> {
    return this.#ask((store) => store.reset(policy, key));
  }

  async close(): Promise<void> {}

  /** Sends what was asked since the last time. */
  flush(): void {
    const questions = this.#outbox;
    this.#outbox = [];
    if (questions.length === 0 || this.#cut) return;
    this.#link.toStore(async () => {
      const answers: (() => void)[] = [];
      for (const question of questions) answers.push(await question(this.#store));
      this.#link.toReplica(() => {
        if (this.#cut) return undefined;
        for (const answer of answers) answer();
        return this.#settle();
      });
    });
  }

  /** The replica has crashed: it sends nothing more, and what is under way to it is lost. */
  cut(): void {
    this.#cut = true;
  }

  #ask<Answer>(decide: (store: Store) => Promise<Answer>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#outbox.length === 0) this.#unsent(this);
      this.#outbox.push((store) =>
        decide(store).then(
          (answer) => () => resolve(answer),
          (error) => () => reject(error),
        ),
      );
    });
  }
}

/** The store in memory says that memory answered, as for its own process it is. */
function fromStore(decision: Decision): Decision {
  return { ...decision, origin: 'store' };
}

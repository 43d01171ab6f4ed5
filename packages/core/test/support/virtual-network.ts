import type { Decision } from '../../src/decision/decision.js';
import type { Policy } from '../../src/policy/policy.js';
import type { Charge, Claim, Grant, Store } from '../../src/store/store.js';
import type { VirtualTime } from './virtual-time.js';

/** What becomes of a message to the store. */
export interface Fate {
  readonly thereMs: number;
  readonly backMs: number;
  /** Lost before the store has it, or the answer to it. */
  readonly lost: 'there' | 'back' | undefined;
  /** When the one who sent what is lost is told so; undefined: never. It may be before it arrives. */
  readonly noticedAfterMs: number | undefined;
  /** Sent once more, as a client does on a new connection: then that long after, seldom before. */
  readonly again: { readonly thereMs: number; readonly seen: 'first' | 'second' } | undefined;
  /** Whether all that is there is spent right before it arrives, and once more right behind. */
  readonly rushed: boolean;
}

/** What a store did, when it has done it. */
export interface Watcher {
  /** Charges of one call that it decided together. */
  decided(charges: readonly Charge[], decisions: readonly Decision[]): void;
  /**
   * @param takenAtMs as the store was told
   * @param cause what `Connection.cause` was when it was sent
   */
  refunded(policy: Policy, permits: number, takenAtMs: number | undefined, cause: unknown): void;
  /** Is to spend all that is there. */
  rushed(policies: readonly Policy[]): void;
  /** Called after each of these, and after claims. */
  changed(policies: readonly Policy[]): void;
}

/**
 * One store behind a network that delays messages, loses them, delivers them twice and in another
 * order. What is sent meets the next of `fates`, round and round.
 */
export class VirtualNetwork {
  readonly time: VirtualTime;
  readonly store: Store;
  readonly #fates: readonly Fate[];
  readonly watcher: Watcher;
  #sent = 0;

  constructor(time: VirtualTime, store: Store, fates: readonly Fate[], watcher: Watcher) {
    this.time = time;
    this.store = store;
    this.#fates = fates;
    this.watcher = watcher;
  }

  connect(): Connection {
    return new Connection(this);
  }

  nextFate(): Fate {
    return this.#fates[this.#sent++ % this.#fates.length] as Fate;
  }
}

/** One replica's way to the store. Answers nothing at once. */
export class Connection implements Store {
  readonly #network: VirtualNetwork;
  #cut: 'no' | 'sending' | 'all' = 'no';
  /** Messages of which nothing was ever heard. */
  unanswered = 0;
  /** Claims that were heard before, as this replica was told. */
  refused = 0;
  /** For the watcher, of the refunds that are sent meanwhile. */
  cause: unknown;

  constructor(network: VirtualNetwork) {
    this.#network = network;
  }

  /** From here on nothing is sent or answered; what is under way still arrives, or does not. */
  cut(dropsMessages: boolean): void {
    this.#cut = dropsMessages ? 'all' : 'sending';
  }

  tryConsume(): undefined {
    return undefined;
  }

  tryConsumeAll(): undefined {
    return undefined;
  }

  consume(policy: Policy, key: string, cost: number): Promise<Decision> {
    return this.#send([policy], async ({ store, watcher }) => {
      const decision = await store.consume(policy, key, cost);
      watcher.changed([policy]);
      watcher.decided([{ policy, key, cost }], [decision]);
      return decision;
    });
  }

  consumeAll(charges: readonly Charge[]): Promise<readonly Decision[]> {
    const policies = charges.map(({ policy }) => policy);
    return this.#send(policies, async ({ store, watcher }) => {
      const decisions = await store.consumeAll(charges);
      watcher.changed(policies);
      watcher.decided(charges, decisions);
      return decisions;
    });
  }

  async claim(claim: Claim): Promise<Grant | undefined> {
    const { policy, key } = claim;
    const grant = await this.#send([policy], async ({ store, watcher }) => {
      const granted = await store.claim(claim);
      watcher.changed([policy]);
      granted?.decisions.forEach((decision, i) => {
        watcher.decided([{ policy, key, cost: claim.costs[i] as number }], [decision]);
      });
      return granted;
    });
    if (grant === undefined) this.refused++;
    return grant;
  }

  /** Never delivered twice: what comes back twice is more than was taken. */
  refund(
    policy: Policy,
    key: string,
    permits: number,
    takenAtMs: number | undefined,
  ): Promise<Decision> {
    const { cause } = this;
    const decide = async ({ store, watcher }: VirtualNetwork) => {
      const decision = await store.refund(policy, key, permits, takenAtMs);
      watcher.refunded(policy, permits, takenAtMs, cause);
      watcher.changed([policy]);
      return decision;
    };
    return this.#send([policy], decide, true);
  }

  overcharge(): Promise<Decision> {
    throw new Error('overcharge is not sent here');
  }

  reset(): Promise<void> {
    throw new Error('reset is not sent here');
  }

  async close(): Promise<void> {}

  #send<T>(
    policies: readonly Policy[],
    decide: (network: VirtualNetwork) => Promise<T>,
    once = false,
  ): Promise<T> {
    if (this.#cut !== 'no') return new Promise(() => {});
    const network = this.#network;
    const { time } = network;
    const { thereMs, backMs, lost, noticedAfterMs, again, rushed } = network.nextFate();
    return new Promise<T>((resolve, reject) => {
      const arrive = (answered: boolean) => {
        if (this.#cut === 'all') return;
        if (rushed) network.watcher.rushed(policies);
        const answer = decide(network);
        if (rushed) void answer.then(() => network.watcher.rushed(policies));
        if (!answered) return;
        void answer.then((value) => {
          time.after(backMs, () => {
            if (this.#cut === 'no') resolve(value);
          });
        }, reject);
      };
      const isAgain = again !== undefined && !once;
      if (lost !== 'there') {
        time.after(thereMs, () =>
          arrive(lost === undefined && !(isAgain && again.seen === 'second')),
        );
      }
      if (isAgain) {
        time.after(again.thereMs, () => arrive(lost === undefined && again.seen === 'second'));
      }
      if (lost === undefined) return;
      if (noticedAfterMs === undefined) this.unanswered++;
      else
        time.after(noticedAfterMs, () => {
          if (this.#cut === 'no') reject(new Error('the message was lost'));
        });
    });
  }
}

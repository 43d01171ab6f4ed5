import type { Store } from '../store/store.js';
import type { LocalDecisions } from './local-decisions.js';
import type { Replicas } from './options.js';
import { type ReplicaWatch, watchReplicas } from './replica-count.js';
import type { Teller } from './teller.js';

/** Has the shares go by the number of replicas, and tells of it. Started by the first question. */
export class ReplicaCounter {
  readonly #store: Store;
  readonly #replicas: Replicas | undefined;
  readonly #local: LocalDecisions;
  readonly #teller: Teller;
  #watch: ReplicaWatch | undefined;
  #isCounted = false;
  #isStopped = false;

  /** @param replicas the option; undefined: the store is asked, where it counts them */
  constructor(store: Store, replicas: Replicas | undefined, local: LocalDecisions, teller: Teller) {
    this.#store = store;
    this.#replicas = replicas;
    this.#local = local;
    this.#teller = teller;
  }

  /** True from the first question on: what asks nothing starts nothing. */
  get isCounting(): boolean {
    return this.#watch !== undefined;
  }

  start(): void {
    if (this.#watch !== undefined || this.#isStopped) return;
    const beat = this.#store.heartbeat?.bind(this.#store);
    this.#watch = watchReplicas({
      source: this.#replicas ?? beat ?? 1,
      isHeartbeat: this.#replicas === undefined && beat !== undefined,
      onCount: (count) => {
        this.#isCounted = true;
        this.#local.replicas = count;
        this.#teller.tell({ type: 'replicas', replicas: count });
      },
      onFailure: (error) => this.#tellUnknown(error),
    });
  }

  /** The store, or a part of it, is lost: the share matters now, whether the number is known or not. */
  storeLost(error: Error): void {
    if (!this.#isCounted) this.#tellUnknown(error);
  }

  stop(): void {
    this.#isStopped = true;
    this.#watch?.stop();
  }

  #tellUnknown(error: Error): void {
    this.#teller.tell({ type: 'replicas-unknown', replicas: this.#local.replicas, error });
  }
}

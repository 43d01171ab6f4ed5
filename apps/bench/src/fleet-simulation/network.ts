import type { Random } from './random.js';
import type { Action, Timeline } from './timeline.js';

/** Between all replicas and the store. */
export class Network {
  /** Messages to the store so far. */
  calls = 0;
  readonly timeline: Timeline;
  readonly #random: Random;
  readonly #oneWayMs: number;

  constructor(timeline: Timeline, random: Random, roundTripMs: number) {
    this.timeline = timeline;
    this.#random = random;
    this.#oneWayMs = roundTripMs / 2;
  }

  /** A new connection of a replica. */
  connect(): Link {
    return new Link(this);
  }

  travelMs(): number {
    return this.#oneWayMs * this.#random.between(0.75, 1.25);
  }
}

/** One connection: messages arrive in the order in which they were sent. */
export class Link {
  readonly #network: Network;
  #lastAtStoreMs = 0;
  #lastAtReplicaMs = 0;

  constructor(network: Network) {
    this.#network = network;
  }

  toStore(arrive: Action): void {
    this.#network.calls++;
    this.#lastAtStoreMs = this.#send(this.#lastAtStoreMs, arrive);
  }

  toReplica(arrive: Action): void {
    this.#lastAtReplicaMs = this.#send(this.#lastAtReplicaMs, arrive);
  }

  #send(notBeforeMs: number, arrive: Action): number {
    const { timeline } = this.#network;
    const atMs = Math.max(notBeforeMs, timeline.nowMs + this.#network.travelMs());
    timeline.schedule(atMs, arrive);
    return atMs;
  }
}

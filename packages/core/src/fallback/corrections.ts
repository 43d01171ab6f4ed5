import type { Charge } from '../store/store.js';
import { isBucket } from './share.js';

/** Puts back what the store charged, as of `Store.refund`. */
export type GiveBack = (charge: Charge, takenAtMs: number | undefined) => Promise<unknown>;

/** Most of them that wait for a store that is lost; of more, the latest are not made. */
const MAX_WAITING = 10_000;

/**
 * Has a store give back what it was charged too much, or what is refunded, when it can. Where it
 * cannot, the bucket is too strict for as long as that takes to refill; so it is where nobody knows
 * of which window it was. None is tried twice: a store may have heard what it did not answer.
 */
export class Corrections {
  readonly #isLost: (key: string) => boolean;
  readonly #giveBack: GiveBack;
  readonly #waiting: [charge: Charge, takenAtMs: number | undefined][] = [];

  constructor(isLost: (key: string) => boolean, giveBack: GiveBack) {
    this.#isLost = isLost;
    this.#giveBack = giveBack;
  }

  make(charge: Charge, takenAtMs: number | undefined): void {
    if (charge.cost === 0 || (takenAtMs === undefined && !isBucket(charge.policy))) return;
    if (!this.#isLost(charge.key)) this.#giveBack(charge, takenAtMs).catch(() => undefined);
    else if (this.#waiting.length < MAX_WAITING) this.#waiting.push([charge, takenAtMs]);
  }

  /** The store is found, or a part of it: makes those that waited for it. */
  makeAll(): void {
    for (const [charge, takenAtMs] of this.#waiting.splice(0)) this.make(charge, takenAtMs);
  }
}

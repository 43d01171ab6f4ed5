import { type Clock, monotonicClock } from '../../time/clock.js';
import { textOf } from './store-fault.js';

/** For how long one answer says that a slot is on the move: it takes a fraction of that. */
const LIFE_MS = 1000;

/** Most groups remembered; with more all are forgotten, and found again by the next answer. */
const MAX_GROUPS = 1000;

/**
 * What a Cluster's client gives up with where the keys of a call are on two nodes: the server's own
 * word, or that it was sent from node to node in vain. None of them has run anything.
 */
const SPLIT = /^TRYAGAIN|Too many Cluster redirections\. Last error: \S+ (TRYAGAIN|ASK|MOVED)/;

/** Groups of keys whose slot is on the move: a call of several keys may be answered by nobody. */
export class MovingSlots {
  readonly #clock: Clock;
  readonly #untilMs = new Map<string, number>();

  constructor(clock: Clock = monotonicClock) {
    this.#clock = clock;
  }

  has(group: string): boolean {
    if (this.#untilMs.size === 0) return false;
    const untilMs = this.#untilMs.get(group);
    if (untilMs === undefined) return false;
    if (untilMs > this.#clock.nowMs()) return true;
    this.#untilMs.delete(group);
    return false;
  }

  /** Told of an error of a call of several keys. @returns true where it says so */
  noticed(group: string, error: unknown): boolean {
    if (!SPLIT.test(textOf(error))) return false;
    if (this.#untilMs.size >= MAX_GROUPS) this.#untilMs.clear();
    this.#untilMs.set(group, this.#clock.nowMs() + LIFE_MS);
    return true;
  }
}

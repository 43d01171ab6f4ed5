import type { StoreFault } from '../errors.js';
import { RETURN_MS } from '../fallback/breaker.js';
import { Deadlines } from '../fallback/deadlines.js';
import { StoreLink } from '../fallback/store-link.js';
import { Teller } from '../fallback/teller.js';
import type { Store } from '../store/store.js';
import type { Clock } from '../time/clock.js';
import type { RegionTerms } from './terms.js';

/** The weight of each answer in the average of how long one takes, and what it is taken to be at first. */
const WEIGHT = 0.2;
const FIRST_MS = 50;

/**
 * The way from a region to the store where the buckets of all regions live. Every question ends by its
 * deadline; while that store cannot be reached it is not asked, but for probes.
 */
export class HomeLink {
  readonly store: Store;
  readonly #clock: Clock;
  readonly #link: StoreLink;
  readonly #deadlineMs: number;
  #roundTripMs: number;

  /** @param onAnswering called when it can be charged again, and once more when it decides again */
  constructor(terms: RegionTerms, clock: Clock, onAnswering: () => void) {
    this.store = terms.home;
    this.#clock = clock;
    this.#deadlineMs = terms.homeDeadlineMs;
    this.#roundTripMs = Math.min(FIRST_MS, terms.homeDeadlineMs);
    const teller = new Teller(terms.onEvent);
    this.#link = new StoreLink({
      store: terms.home,
      clock,
      deadlines: new Deadlines(terms.homeDeadlineMs, clock),
      returnMs: RETURN_MS,
      tell: (event) => teller.tell(event),
      isThere: () => true,
      onFound: onAnswering,
      mayReturn: () => true,
      onBack: onAnswering,
    });
  }

  get state(): 'up' | 'lost' | 'returning' {
    this.#link.look();
    return this.#link.state;
  }

  get lastFault(): StoreFault {
    return this.#link.lastFault;
  }

  /** How long an answer takes: a whole number, at least 1. */
  get roundTripMs(): number {
    return Math.max(1, Math.ceil(this.#roundTripMs));
  }

  /** After so long no answer is waited for any more, stalls of this process included. */
  get patienceMs(): number {
    return 2 * this.#deadlineMs;
  }

  /**
   * Rejects with `RL_STORE_FAILED` where there is no answer by the deadline, or the store is not asked.
   * @param late told an answer that came after that
   * @param anyway asks also a store that is only being charged yet
   */
  ask<Answer>(
    key: string,
    ask: () => Promise<Answer>,
    late: (answer: Answer) => void = () => {},
    anyway = false,
  ): Promise<Answer> {
    const { state } = this;
    if (state === 'lost' || (state === 'returning' && !anyway)) {
      return Promise.reject(this.#link.refusal);
    }
    const sentAtMs = this.#clock.nowMs();
    return new Promise((resolve, reject) => {
      const answered = (answer: Answer) => {
        this.#roundTripMs += WEIGHT * (this.#clock.nowMs() - sentAtMs - this.#roundTripMs);
        resolve(answer);
        return true;
      };
      this.#link.ask({ key, ask, answered, failed: reject, late });
    });
  }

  close(): void {
    this.#link.close();
  }
}

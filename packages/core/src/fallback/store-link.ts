import { isStoreFailure, type RateLimitError, type StoreFault, storeFailed } from '../errors.js';
import type { Store } from '../store/store.js';
import { outsideRequests } from '../time/background.js';
import type { Clock } from '../time/clock.js';
import { Breaker, type StoreState } from './breaker.js';
import { Deadlines, Pending } from './deadlines.js';
import type { StoreEvent } from './events.js';
import { PROBE } from './probe.js';

/** A question to the store: by its deadline it is `answered` or `failed`. */
export interface Question<Answer> {
  /** The partition key it is about, or one of them. */
  readonly key: string;
  ask(): Promise<Answer>;
  answered(answer: Answer): void;
  /** False of an answer that says nothing of the store, as it was not asked for it. Default: true. */
  isOfStore?(answer: Answer): boolean;
  failed(error: Error): void;
  /** The answer came, after all, when the question had failed. */
  late?(answer: Answer): void;
}

export interface StoreLinkOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly deadlineMs: number;
  /** For how long a store that was found is not asked yet, so that others find it, too. */
  readonly returnMs: number;
  tell(event: StoreEvent): void;
  /** The store answers: it can be charged. */
  onFound(): void;
  /** The store is asked again. */
  onBack(): void;
}

/**
 * Most probes whose answers have not come: more would only fill the client's queue. A client may lose
 * answers for good, hence there is one more after so long.
 */
const MAX_PROBES = 16;
const PROBE_ANYWAY_MS = 60_000;

class Waiting extends Pending {
  readonly giveUp: () => void;

  constructor(giveUp: () => void) {
    super();
    this.giveUp = giveUp;
  }
}

/**
 * The way to a store that is elsewhere: it sees to it that every question ends by its deadline, and
 * that a store which does not answer is not asked, but for probes, until it does.
 *
 * A question costs an entry in a line while the store is up. There is a timer while a question waits
 * and while the store is not up; neither keeps the process alive.
 */
export class StoreLink {
  readonly #options: StoreLinkOptions;
  readonly #deadlines: Deadlines;
  readonly #breaker: Breaker;
  #timer: NodeJS.Timeout | undefined;
  #lostAtMs = 0;
  #lastFault: StoreFault = 'other';
  /** Where the next probe goes: the bucket whose question failed last, hence its slot of a Cluster. */
  #probeKey: string = PROBE.name;
  #probes = 0;
  #probedAtMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(options: StoreLinkOptions) {
    const { clock, deadlineMs, returnMs } = options;
    this.#options = options;
    this.#deadlines = new Deadlines(deadlineMs, clock);
    this.#breaker = new Breaker(clock, returnMs, Math.random);
  }

  get state(): StoreState {
    return this.#breaker.state;
  }

  /** What was the matter when a question failed last. */
  get lastFault(): StoreFault {
    return this.#lastFault;
  }

  /** What a question that is not asked fails with. */
  get refusal(): RateLimitError {
    const why = 'it has not answered lately, and is tried in the background';
    return storeFailed('be asked', new Error(why), this.#lastFault);
  }

  ask<Answer>({ key, ask, isOfStore, answered, failed, late }: Question<Answer>): void {
    const { round } = this.#breaker;
    const { deadlineMs } = this.#options;
    const pending = new Waiting(() => {
      const error = storeFailed('answer', new Error(`nothing within ${deadlineMs} ms`), 'timeout');
      this.#failed(error, round, key);
      failed(error);
    });
    this.#deadlines.add(pending);
    attempt(ask).then(
      (answer) => {
        if (pending.isSettled) {
          late?.(answer);
          this.#heardLate();
          return;
        }
        pending.isSettled = true;
        if (isOfStore?.(answer) !== false) this.#breaker.succeeded();
        answered(answer);
      },
      (error: Error) => {
        if (pending.isSettled) return;
        pending.isSettled = true;
        if (isStoreFailure(error)) this.#failed(error, round, key);
        failed(error);
      },
    );
  }

  /** A question failed that was not asked here. */
  failed(error: RateLimitError): void {
    this.#failed(error, this.#breaker.round, this.#probeKey);
  }

  /** Does what is due while the store is not up. Called by whoever comes by, and by a timer. */
  look(): void {
    if (this.#breaker.startProbe()) this.#probe();
    if (!this.#breaker.tryReturn()) return;
    const outageMs = this.#options.clock.nowMs() - this.#lostAtMs;
    this.#options.tell({ type: 'store-back', outageMs });
    this.#options.onBack();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #failed(error: RateLimitError, round: number, key: string): void {
    const { tell, clock } = this.#options;
    const { fault = 'other' } = error;
    const wasUp = this.#breaker.state === 'up';
    this.#lastFault = fault;
    this.#probeKey = key;
    tell({ type: 'store-failed', fault, error });
    if (!this.#breaker.failed(round)) return;
    if (wasUp) this.#lostAtMs = clock.nowMs();
    tell({ type: 'store-lost', fault, error });
    this.#arm();
  }

  /** A sign of life. After a long silence it is worth a probe; else the next one is near. */
  #heardLate(): void {
    if (this.#probes < MAX_PROBES) return;
    this.#breaker.hurry();
    this.#arm();
  }

  #arm(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed || this.#breaker.state === 'up' || this.#breaker.isProbing) return;
    const run = () => {
      this.look();
      this.#arm();
    };
    const afterMs = Math.max(1, this.#breaker.dueAfterMs);
    this.#timer = outsideRequests(() => setTimeout(run, afterMs).unref());
  }

  #probe(): void {
    const { store, clock } = this.#options;
    const nowMs = clock.nowMs();
    if (this.#probes >= MAX_PROBES && nowMs - this.#probedAtMs < PROBE_ANYWAY_MS) {
      this.#breaker.probeFailed();
      return;
    }
    this.#probedAtMs = nowMs;
    this.#probes++;
    const asked = attempt(() => store.consume(PROBE, this.#probeKey, 1));
    const settled = () => void this.#probes--;
    asked.then(settled, settled);
    this.ask({
      key: this.#probeKey,
      ask: () => asked,
      answered: () => this.#found(),
      failed: () => {
        this.#breaker.probeFailed();
        this.#arm();
      },
    });
  }

  #found(): void {
    const { tell, onFound } = this.#options;
    this.#breaker.found();
    tell({ type: 'store-found' });
    onFound();
    this.look();
    this.#arm();
  }
}

/** A store that throws has failed like one that rejects. */
function attempt<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return ask();
  } catch (error) {
    return Promise.reject(error);
  }
}

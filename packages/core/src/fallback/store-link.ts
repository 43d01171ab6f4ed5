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
  /** @returns false of an answer that says nothing of the store, as it was not asked for it */
  answered(answer: Answer): boolean;
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

/** A question under way. Settled, it holds on to nothing: it stays in line until its deadline. */
class Asked<Answer> extends Pending {
  readonly #link: AskedBy;
  /** Of the breaker, when it was asked. */
  readonly #round: number;
  #question: Question<Answer> | undefined;

  constructor(link: AskedBy, round: number, question: Question<Answer>) {
    super();
    this.#link = link;
    this.#round = round;
    this.#question = question;
  }

  answered(answer: Answer): void {
    const question = this.#question as Question<Answer>;
    this.#question = undefined;
    if (this.isSettled) {
      question.late?.(answer);
      this.#link.heardLate();
      return;
    }
    this.isSettled = true;
    if (question.answered(answer)) this.#link.heard();
  }

  failed(error: Error): void {
    const question = this.#question as Question<Answer>;
    this.#question = undefined;
    if (this.isSettled) return;
    this.isSettled = true;
    if (isStoreFailure(error)) this.#link.notHeard(error, this.#round, question.key);
    question.failed(error);
  }

  giveUp(): void {
    const { key } = this.#question as Question<Answer>;
    const error = this.#link.timeout();
    this.#link.notHeard(error, this.#round, key);
    (this.#question as Question<Answer>).failed(error);
  }
}

/** What becomes of the store by its answers. */
interface AskedBy {
  heard(): void;
  heardLate(): void;
  notHeard(error: RateLimitError, round: number, key: string): void;
  /** What a question is given up with. */
  timeout(): RateLimitError;
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
  readonly #asked: AskedBy;
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
    this.#asked = {
      heard: () => this.#breaker.succeeded(),
      heardLate: () => this.#heardLate(),
      notHeard: (error, round, key) => this.#notHeard(error, round, key),
      timeout: () => storeFailed('answer', new Error(`nothing within ${deadlineMs} ms`), 'timeout'),
    };
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

  ask<Answer>(question: Question<Answer>): void {
    const asked = new Asked(this.#asked, this.#breaker.round, question);
    this.#deadlines.add(asked);
    attempt(question).then(
      (answer) => asked.answered(answer),
      (error) => asked.failed(error),
    );
  }

  /** A question failed that was not asked here. */
  failed(error: RateLimitError): void {
    this.#notHeard(error, this.#breaker.round, this.#probeKey);
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

  #notHeard(error: RateLimitError, round: number, key: string): void {
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
    const key = this.#probeKey;
    const asked = attempt({ ask: () => store.consume(PROBE, key, 1) });
    this.ask({
      key,
      ask: () => asked,
      answered: () => {
        this.#found();
        return true;
      },
      failed: () => {
        this.#breaker.probeFailed();
        this.#arm();
      },
    });
    // Behind what it is heard as: that one of so many was answered late is worth the next one.
    const settled = () => void this.#probes--;
    asked.then(settled, settled);
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
function attempt<Answer>(question: Pick<Question<Answer>, 'ask'>): Promise<Answer> {
  try {
    return question.ask();
  } catch (error) {
    return Promise.reject(error);
  }
}

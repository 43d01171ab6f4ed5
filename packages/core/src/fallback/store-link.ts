import { isStoreFailure, type RateLimitError, type StoreFault, storeFailed } from '../errors.js';
import type { Store } from '../store/store.js';
import { later, outsideRequests } from '../time/background.js';
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
  /** False while a store that was found is not ready to be asked, as it is being charged. */
  mayReturn(): boolean;
  /** The store is asked again. */
  onBack(): void;
}

/**
 * Most probes whose answers have not come: more would only fill the client's queue. A client may lose
 * answers for good, hence there is one more after so long.
 */
const MAX_PROBES = 16;
const PROBE_ANYWAY_MS = 60_000;

/** Most questions that were given up and are not answered yet: with so many the store is lost. */
const MAX_UNANSWERED = 10_000;

/** The longest that a store is returning for want of `mayReturn`, and how often that is asked. */
const LONGEST_RETURN_MS = 10_000;
const RETURN_CHECK_MS = 20;

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
    const question = this.#take();
    const isLate = this.isSettled;
    this.isSettled = true;
    if (isLate) this.#link.heardLate();
    try {
      if (isLate) question.late?.(answer);
      else if (question.answered(answer)) this.#link.heard();
    } catch (thrown) {
      // It is no answer at all: a store of the app's own does not keep the contract.
      const error = storeFailed('answer', thrown);
      this.#link.notHeard(error, this.#round, question.key);
      if (!isLate) question.failed(error);
    }
  }

  failed(error: Error): void {
    const question = this.#take();
    if (this.isSettled) {
      this.#link.heardLate();
      return;
    }
    this.isSettled = true;
    this.#failed(question, error);
  }

  giveUp(): void {
    const question = this.#question as Question<Answer>;
    this.#failed(question, this.#link.timeout());
  }

  #take(): Question<Answer> {
    const question = this.#question as Question<Answer>;
    this.#question = undefined;
    return question;
  }

  #failed(question: Question<Answer>, error: Error): void {
    if (isStoreFailure(error)) this.#link.notHeard(error, this.#round, question.key);
    question.failed(error);
  }
}

/** What becomes of the store by its answers. */
interface AskedBy {
  heard(): void;
  /** What was given up has ended, after all. */
  heardLate(): void;
  notHeard(error: RateLimitError, round: number, key: string): void;
  /** A question is given up. @returns what it fails with */
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
  #unanswered = 0;
  #foundAtMs = 0;
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
      timeout: () => {
        this.#unanswered++;
        return storeFailed('answer', new Error(`nothing within ${deadlineMs} ms`), 'timeout');
      },
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
    if (this.#breaker.startProbe()) outsideRequests(() => this.#probe());
    if (!this.#mayReturn() || !this.#breaker.tryReturn()) return;
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
    const isFull = this.#unanswered >= MAX_UNANSWERED && this.#breaker.lose();
    if (!isFull && !this.#breaker.failed(round, fault === 'timeout')) return;
    if (wasUp) this.#lostAtMs = clock.nowMs();
    tell({ type: 'store-lost', fault, error });
    this.#arm();
  }

  /** A sign of life. After a long silence it is worth a probe; else the next one is near. */
  #heardLate(): void {
    this.#unanswered--;
    if (this.#probes < MAX_PROBES) return;
    this.#breaker.hurry();
    this.#arm();
  }

  /** What the timer does. Made of nothing here, so that it keeps hold of nothing. */
  static #lookAgain(link: StoreLink): void {
    link.look();
    link.#arm();
  }

  #mayReturn(): boolean {
    if (this.#breaker.state !== 'returning') return true;
    const { clock, mayReturn } = this.#options;
    return mayReturn() || clock.nowMs() - this.#foundAtMs >= LONGEST_RETURN_MS;
  }

  #arm(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed || this.#breaker.state === 'up' || this.#breaker.isProbing) return;
    const afterMs = Math.max(this.#mayReturn() ? 1 : RETURN_CHECK_MS, this.#breaker.dueAfterMs);
    this.#timer = later(this, afterMs, StoreLink.#lookAgain);
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
    this.#foundAtMs = this.#options.clock.nowMs();
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

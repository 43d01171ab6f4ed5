import { isStoreFailure, type RateLimitError, type StoreFault, storeFailed } from '../errors.js';
import { preciseMs } from '../time/clock.js';
import { Pending } from './deadlines.js';

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

/** What becomes of the store by its answers. */
export interface AskedBy {
  heard(): void;
  /** What was given up has ended, after all. */
  heardLate(): void;
  notHeard(error: RateLimitError, round: number, key: string): void;
  /** A question is given up. @returns what it fails with */
  timeout(): RateLimitError;
  /** How long a question took, once it is answered or failed. @param fault why it failed */
  took(durationMs: number, fault?: StoreFault): void;
}

/** A question under way. Settled, it holds on to nothing: it stays in line until its deadline. */
export class Asked<Answer> extends Pending {
  readonly #by: AskedBy;
  /** Of the breaker, when it was asked. */
  readonly #round: number;
  readonly #sinceMs = preciseMs();
  #question: Question<Answer> | undefined;

  constructor(by: AskedBy, round: number, question: Question<Answer>) {
    super();
    this.#by = by;
    this.#round = round;
    this.#question = question;
  }

  /** Asks. To be called once, when it is in line. */
  ask(): void {
    attempt(this.#question as Question<Answer>).then(
      (answer) => this.#answered(answer),
      (error) => this.#failedWith(error),
    );
  }

  giveUp(): void {
    const question = this.#question as Question<Answer>;
    this.#failed(question, this.#by.timeout());
  }

  #answered(answer: Answer): void {
    const question = this.#take();
    const isLate = this.isSettled;
    this.isSettled = true;
    if (isLate) this.#by.heardLate();
    else this.#by.took(preciseMs() - this.#sinceMs);
    try {
      if (isLate) question.late?.(answer);
      else if (question.answered(answer)) this.#by.heard();
    } catch (thrown) {
      // It is no answer at all: a store of the app's own does not keep the contract.
      const error = storeFailed('answer', thrown);
      this.#by.notHeard(error, this.#round, question.key);
      if (!isLate) question.failed(error);
    }
  }

  #failedWith(error: Error): void {
    const question = this.#take();
    if (this.isSettled) {
      this.#by.heardLate();
      return;
    }
    this.isSettled = true;
    this.#failed(question, error);
  }

  #take(): Question<Answer> {
    const question = this.#question as Question<Answer>;
    this.#question = undefined;
    return question;
  }

  #failed(question: Question<Answer>, error: Error): void {
    if (isStoreFailure(error)) {
      this.#by.took(preciseMs() - this.#sinceMs, error.fault ?? 'other');
      this.#by.notHeard(error, this.#round, question.key);
    }
    question.failed(error);
  }
}

/** A store that throws has failed like one that rejects. */
export function attempt<Answer>(question: Pick<Question<Answer>, 'ask'>): Promise<Answer> {
  try {
    return question.ask();
  } catch (error) {
    return Promise.reject(error);
  }
}

/** What a question that is given up fails with. */
export function timedOut(deadlineMs: number): RateLimitError {
  return storeFailed('answer', new Error(`nothing within ${deadlineMs} ms`), 'timeout');
}

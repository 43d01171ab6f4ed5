import { type RateLimitError, storeFailed } from '../errors.js';
import { type Deadlines, Pending } from '../fallback/deadlines.js';

/** A question to the region's own Redis, that is waited for until its deadline. */
class RegionCall<Answer> extends Pending {
  readonly #reject: (error: RateLimitError) => void;
  readonly #late: (answer: Answer) => void;
  readonly #resolve: (answer: Answer) => void;
  readonly #ms: number;

  constructor(
    ms: number,
    resolve: (answer: Answer) => void,
    reject: (error: RateLimitError) => void,
    late: (answer: Answer) => void,
  ) {
    super();
    this.#ms = ms;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#late = late;
  }

  giveUp(): void {
    const why = new Error(`nothing within ${this.#ms} ms`);
    this.#reject(storeFailed('answer', why, 'timeout'));
  }

  answered(answer: Answer): void {
    if (this.isSettled) this.#late(answer);
    else this.#resolve(answer);
    this.isSettled = true;
  }

  failed(error: RateLimitError): void {
    if (!this.isSettled) this.#reject(error);
    this.isSettled = true;
  }
}

/**
 * The answer, by the deadline; else it rejects with `RL_STORE_FAILED`.
 * @param late told an answer that came after that
 */
export function within<Answer>(
  deadlines: Deadlines,
  ms: number,
  asked: Promise<Answer>,
  late: (answer: Answer) => void,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = new RegionCall(ms, resolve, reject, late);
    deadlines.add(call);
    asked.then(
      (answer) => call.answered(answer),
      (error) => call.failed(error),
    );
  });
}

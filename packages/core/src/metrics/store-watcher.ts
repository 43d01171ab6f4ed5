import type { StoreFault } from '../errors.js';
import { STORE_ANSWER, type StoreAnswerMessage } from './channels.js';
import { Histogram } from './histogram.js';

/** Upper bounds in seconds: from a Redis beside the process to one on another continent. */
export const LATENCY_BOUNDS_S: readonly number[] = [
  0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1,
];

export const NO_ERRORS: Readonly<Record<StoreFault, number>> = {
  timeout: 0,
  connection: 0,
  unavailable: 0,
  'read-only': 0,
  memory: 0,
  permission: 0,
  other: 0,
};

/** What one limiter sees of its store: how long it takes, and how it fails. */
export class StoreWatcher {
  readonly latency: Histogram = new Histogram(LATENCY_BOUNDS_S);
  readonly #limiter: object;
  readonly #errors: Record<StoreFault, number> = { ...NO_ERRORS };

  constructor(limiter: object) {
    this.#limiter = limiter;
  }

  get errors(): Readonly<Record<StoreFault, number>> {
    return { ...this.#errors };
  }

  /** A question has been answered, or given up. @param fault why there was no answer */
  took(durationMs: number, fault?: StoreFault): void {
    const durationS = durationMs / 1000;
    this.latency.add(durationS);
    if (!STORE_ANSWER.hasSubscribers) return;
    const message: StoreAnswerMessage = { limiter: this.#limiter, durationS, fault };
    STORE_ANSWER.publish(message);
  }

  failed(fault: StoreFault): void {
    this.#errors[fault]++;
  }
}

import { messageOf } from '../errors.js';
import { warnOnce } from '../warnings.js';
import type { StoreEvent } from './events.js';

/** Tells an app of its store's trouble; where it does not listen, warns it once. */
export class Teller {
  readonly #onEvent: ((event: StoreEvent) => unknown) | undefined;

  constructor(onEvent: ((event: StoreEvent) => unknown) | undefined) {
    this.#onEvent = onEvent;
  }

  /** Never throws, and leaves no promise alone with its failure: requests are being decided. */
  tell(event: StoreEvent): void {
    if (this.#onEvent === undefined) {
      warn(event);
      return;
    }
    try {
      Promise.resolve(this.#onEvent(event)).catch(observerFailed);
    } catch (error) {
      observerFailed(error);
    }
  }
}

const MORE = 'pass fallback.onEvent to hear of it each time; see docs/failure-modes.md';

function warn(event: StoreEvent): void {
  if (event.type === 'store-lost') {
    const where = event.place === undefined ? '' : ` at ${event.place}`;
    const message = `the store is lost${where}, and the fallback decides until it is back: ${event.error.message} (${event.fault}); ${MORE}`;
    warnOnce('RL_STORE_LOST', message);
  } else if (event.type === 'replicas-unknown') {
    const { replicas, error } = event;
    const part = replicas === 1 ? 'the whole quota' : `1/${replicas} of the quota`;
    const message = `the number of replicas could not be learnt, so each admits ${part} while the store is lost: ${error.message}; ${MORE}`;
    warnOnce('RL_REPLICAS_UNKNOWN', message);
  }
}

function observerFailed(error: unknown): void {
  const message = `fallback.onEvent threw, which is ignored: ${messageOf(error)}`;
  warnOnce('RL_OBSERVER_FAILED', message);
}

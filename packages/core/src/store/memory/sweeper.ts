import { AsyncResource } from 'node:async_hooks';

/** How often a round begins, and how much of it is done before others get their turn. */
const EVERY_MS = 1000;
const CHUNK = 2000;

/**
 * A timer keeps the async context it was made in reachable. Made in here, that is the context in
 * which this module was loaded, never the one of the request that happens to make a store.
 */
const outsideRequests = new AsyncResource('RL_SWEEPER');

/** Something that can be swept a piece at a time. */
export interface Sweepable {
  /** How many entries a whole round has at present. */
  readonly size: number;
  sweep(count: number): void;
}

/**
 * Sweeps `target` once a second, in pieces small enough that no request waits for one.
 *
 * There is one timer, and it keeps neither the process nor the target alive; a round that has begun
 * is finished, which takes milliseconds.
 *
 * @returns ends the sweeping; may be called more than once
 */
export function startSweeper(target: Sweepable): () => void {
  const held = new WeakRef(target);
  let sweeping = false;

  const sweepOn = (left: number): void => {
    const swept = held.deref();
    if (swept === undefined || left <= 0) {
      sweeping = false;
      return;
    }
    swept.sweep(CHUNK);
    setImmediate(sweepOn, left - CHUNK);
  };

  const begin = (): void => {
    const swept = held.deref();
    if (swept === undefined) clearInterval(timer);
    if (swept === undefined || sweeping || swept.size === 0) return;
    sweeping = true;
    sweepOn(swept.size);
  };
  const timer = outsideRequests.runInAsyncScope(() => setInterval(begin, EVERY_MS).unref());
  return () => clearInterval(timer);
}

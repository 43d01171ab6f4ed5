import { repeat } from '../time/background.js';

/** How much of a round is done before others get their turn. */
const CHUNK = 2000;

/** Something that can be swept a piece at a time. */
export interface Sweepable {
  /** How many entries a whole round has at present. */
  readonly size: number;
  sweep(count: number): void;
}

/**
 * Sweeps `target` again and again, in pieces small enough that no request waits for one.
 *
 * There is one timer, and it keeps neither the process nor the target alive; a round that has begun
 * is finished, which takes milliseconds.
 *
 * @param everyMs how often a round begins
 * @returns ends the sweeping; may be called more than once
 */
export function startSweeper(target: Sweepable, everyMs: number): () => void {
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

  return repeat(target, everyMs, ({ size }) => {
    if (sweeping || size === 0) return;
    sweeping = true;
    sweepOn(size);
  });
}

import { atMost } from '../../time/at-most.js';

/** Work under way, to be waited for. */
export class InFlight {
  readonly #work = new Set<Promise<unknown>>();

  track<T>(work: Promise<T>): Promise<T> {
    this.#work.add(work);
    const done = () => this.#work.delete(work);
    work.then(done, done);
    return work;
  }

  /**
   * Waits for all of it, and for what it brings about, but no longer than `timeoutMs`: then the rest
   * is waited for no more.
   * @returns true where all is done
   */
  async end(timeoutMs: number): Promise<boolean> {
    await atMost(timeoutMs, this.#settled());
    const isDone = this.#work.size === 0;
    this.#work.clear();
    return isDone;
  }

  async #settled(): Promise<void> {
    while (this.#work.size > 0) await Promise.allSettled(this.#work);
  }
}

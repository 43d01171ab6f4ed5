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
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([this.#settled(), timeout]);
    clearTimeout(timer);
    const isDone = this.#work.size === 0;
    this.#work.clear();
    return isDone;
  }

  async #settled(): Promise<void> {
    while (this.#work.size > 0) await Promise.allSettled(this.#work);
  }
}

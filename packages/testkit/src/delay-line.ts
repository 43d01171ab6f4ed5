interface Waiting<T> {
  readonly item: T;
  readonly dueAtMs: number;
}

/**
 * Hands items on some time after they came in, always in the order they came in. Its timers do not
 * keep the process alive. What it holds is not bounded.
 */
export class DelayLine<T> {
  readonly #deliver: (item: T) => void;
  #waiting: Waiting<T>[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(deliver: (item: T) => void) {
    this.#deliver = deliver;
  }

  /**
   * Delivers `item` no earlier than `delayMs` from now and never before what was pushed earlier. At
   * once, within this call, where `delayMs` is 0 and nothing waits.
   */
  push(item: T, delayMs: number): void {
    if (delayMs === 0 && this.#waiting.length === 0) {
      this.#deliver(item);
      return;
    }
    this.#waiting.push({ item, dueAtMs: performance.now() + delayMs });
    if (this.#timer === undefined) this.#waitForFirst();
  }

  /** Forgets what waits. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting = [];
  }

  #waitForFirst(): void {
    const [first] = this.#waiting;
    if (first === undefined) return;
    // Timers may fire a little early; then there is another, short one.
    const leftMs = Math.max(1, Math.ceil(first.dueAtMs - performance.now()));
    this.#timer = setTimeout(() => this.#deliverDue(), leftMs).unref();
  }

  #deliverDue(): void {
    this.#timer = undefined;
    for (;;) {
      const [first] = this.#waiting;
      if (first === undefined || first.dueAtMs > performance.now()) break;
      // Taken out only afterwards: while it is being delivered nothing may overtake it.
      this.#deliver(first.item);
      if (this.#waiting[0] === first) this.#waiting.shift();
    }
    this.#waitForFirst();
  }
}

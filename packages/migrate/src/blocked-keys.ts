import type { Clock } from '@rl/core';

/** Most keys that are remembered. */
const MAX_KEYS = 10_000;

/**
 * Clients that have to wait, as far as this replica has heard, by its own clock: they are denied
 * without a question to the store. Where there are too many the oldest are forgotten, and asked for
 * again.
 */
export class BlockedKeys {
  readonly #clock: Clock;
  readonly #untilMs = new Map<string, number>();

  /** @param clock default: this process's monotonic clock */
  constructor(clock: Clock = { nowMs: () => performance.now() }) {
    this.#clock = clock;
  }

  /** How long a client has to wait yet; 0 where that is not known. */
  leftMs(key: string): number {
    const untilMs = this.#untilMs.get(key);
    if (untilMs === undefined) return 0;
    const leftMs = Math.ceil(untilMs - this.#clock.nowMs());
    if (leftMs > 0) return leftMs;
    this.#untilMs.delete(key);
    return 0;
  }

  note(key: string, forMs: number): void {
    this.#untilMs.delete(key);
    if (this.#untilMs.size >= MAX_KEYS) {
      const [oldest] = this.#untilMs.keys();
      this.#untilMs.delete(oldest as string);
    }
    this.#untilMs.set(key, this.#clock.nowMs() + forMs);
  }
}

export interface Pace {
  /** Requests a second, over all lanes. */
  readonly perSecond: number;
  /** Requests in all. */
  readonly total: number;
  /** They are dealt to so many lanes in turn: no two lanes differ by more than one. */
  readonly lanes: number;
}

/**
 * How many requests are due at a time. It follows the time alone, never the answers: what could not
 * be sent in time is due at once. Time is an argument.
 */
export class Pacer {
  readonly #pace: Pace;
  #sent = 0;

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  /** Requests that were dealt out. */
  get sent(): number {
    return this.#sent;
  }

  get done(): boolean {
    return this.#sent === this.#pace.total;
  }

  /**
   * Deals out what is due and was not dealt out before: the number for each lane.
   * @param elapsedMs since the beginning, when the first one is due
   */
  take(elapsedMs: number): number[] {
    const { perSecond, total, lanes } = this.#pace;
    const due = Math.min(total, Math.floor((elapsedMs * perSecond) / 1000) + 1);
    const count = Math.max(0, due - this.#sent);
    const first = this.#sent % lanes;
    this.#sent += count;
    return Array.from({ length: lanes }, (_, lane) => {
      const place = (lane - first + lanes) % lanes;
      return Math.floor((count - place + lanes - 1) / lanes);
    });
  }

  /** For how long the request that is due longest has been so; 0 where none is. */
  lateMs(elapsedMs: number): number {
    return this.done ? 0 : Math.max(0, elapsedMs - (this.#sent * 1000) / this.#pace.perSecond);
  }
}

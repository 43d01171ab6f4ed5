/** What happened to one bucket at the time it names, by the store's clock. */
export type Entry =
  | { readonly did: 'admitted'; readonly permits: number; readonly by: 'store' | 'lease' }
  | {
      readonly did: 'refunded';
      readonly permits: number;
      /** When they were truly admitted. */
      readonly takenAtMs: number;
    }
  | {
      readonly did: 'showed';
      /** Permits that the store counts as spent. */
      readonly count: number;
      /** When its window ends; means nothing where the count is 0, or no window is counted. */
      readonly endsAtMs: number;
    };

/** A place in the order in which things happened. */
export interface Moment {
  readonly turn: number;
  readonly atMs: number;
}

export type Line = Moment & Entry;

/** What happened to the buckets of a fleet, each of one policy name. */
export class Journal {
  readonly #lines = new Map<string, Line[]>();
  #turn = 0;

  /** The present one. What happened at it may be written down later. */
  moment(atMs: number): Moment {
    return { turn: this.#turn++, atMs: Math.floor(atMs) };
  }

  write({ turn, atMs }: Moment, name: string, entry: Entry): void {
    const lines = this.#lines.get(name) ?? [];
    this.#lines.set(name, lines);
    lines.push({ turn, atMs, ...entry });
  }

  /** In the order things happened. */
  of(name: string): readonly Line[] {
    return (this.#lines.get(name) ?? []).sort((a, b) => a.turn - b.turn);
  }
}

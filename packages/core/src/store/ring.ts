/** Entries by key, and a round that visits all of them again and again. */
export class Ring<Entry> {
  readonly entries: Map<string, Entry> = new Map();
  #round: Iterator<[string, Entry]> = this.entries.entries();

  /** The next in the order they came; undefined only where there are none. */
  next(): [string, Entry] | undefined {
    let step = this.#round.next();
    if (step.done) {
      this.#round = this.entries.entries();
      step = this.#round.next();
    }
    return step.done ? undefined : step.value;
  }
}

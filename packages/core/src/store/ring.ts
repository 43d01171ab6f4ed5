/** Entries by key, and a round that visits all of them again and again. */
export class Ring<Entry> {
  readonly entries: Map<string, Entry> = new Map();
  #round: Iterator<Entry> = this.entries.values();

  /** The next in the order they came; undefined only where there are none. */
  next(): Entry | undefined {
    let step = this.#round.next();
    if (step.done) {
      this.#round = this.entries.values();
      step = this.#round.next();
    }
    return step.done ? undefined : step.value;
  }
}

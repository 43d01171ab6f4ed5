/** Numbers that look random and are the same for the same seed and name, on every machine. */
export class Random {
  #a: number;
  #b = 0x9e3779b9;
  #c = 0x243f6a88;
  #counter = 1;

  /**
   * @param seed an integer
   * @param name what the numbers are for: streams of other names are independent of this one, so
   * drawing more of one changes no other
   */
  constructor(seed: number, name: string) {
    this.#a = seed | 0;
    for (const letter of name) {
      this.#b = Math.imul(this.#b ^ letter.charCodeAt(0), 0x01000193);
    }
    // The first numbers of close seeds resemble each other.
    for (let i = 0; i < 20; i++) this.next();
  }

  /** From 0 up to but not 1. The generator is sfc32. */
  next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.next();
  }

  /** The time to the next of events that come at `perMs` on average, each by itself. */
  gapMs(perMs: number): number {
    return -Math.log(1 - this.next()) / perMs;
  }
}

/** Reads a script's reply, an array of integers, from front to back. */
export class ReplyReader {
  readonly #numbers: readonly unknown[];
  #at = 0;

  /** @throws TypeError where it is no array */
  constructor(reply: unknown) {
    if (!Array.isArray(reply)) throw new TypeError("the script's reply is not an array");
    this.#numbers = reply;
  }

  /** @throws TypeError where there is no further number, or it is not an integer */
  next(): number {
    const found = this.#numbers[this.#at++];
    // A client with `stringNumbers` gives texts.
    const number = typeof found === 'string' && /^-?\d+$/.test(found) ? Number(found) : found;
    if (typeof number === 'number' && Number.isSafeInteger(number)) return number;
    throw new TypeError("the script's reply is not the integers that were asked for");
  }

  /** @throws TypeError where something is left */
  end(): void {
    if (this.#at < this.#numbers.length) throw new TypeError("the script's reply is too long");
  }
}

/** A command as it goes over the wire: an array of bulk strings, numbers in decimal. */
export function encodeCommand(parts: readonly (string | number | Buffer)[]): Buffer {
  const pieces: Buffer[] = [Buffer.from(`*${parts.length}\r\n`)];
  for (const part of parts) {
    const bytes = Buffer.isBuffer(part) ? part : Buffer.from(String(part));
    pieces.push(Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from('\r\n'));
  }
  return Buffer.concat(pieces);
}

const LINE_FEED = 0x0a;
const ARRAY = 0x2a;
const ERROR = 0x2d;

/**
 * Counts replies that are arrays of integers, however the stream cuts them, and looks at nothing
 * else: it costs far less than parsing. Nested arrays and bulk strings would be miscounted.
 */
export class ReplyCounter {
  #atLineStart = true;

  /**
   * How many replies begin in the chunk that follows on the last one.
   * @throws Error that shows it, where one is an error
   */
  count(chunk: Buffer): number {
    let begun = 0;
    let at = 0;
    while (at < chunk.length) {
      if (this.#atLineStart) {
        if (chunk[at] === ARRAY) begun++;
        if (chunk[at] === ERROR) throw new Error(`Redis answered ${chunk.toString('utf8', at)}`);
      }
      const end = chunk.indexOf(LINE_FEED, at);
      this.#atLineStart = end !== -1;
      at = end === -1 ? chunk.length : end + 1;
    }
    return begun;
  }
}

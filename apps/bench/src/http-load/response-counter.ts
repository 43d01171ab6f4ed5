const HEAD_END: Buffer = Buffer.from('\r\n\r\n');
const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) /;
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)\r\n/i;
const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Counts the HTTP/1.1 responses of one connection by their status, however the stream cuts them. Of
 * a response it reads the status line and Content-Length, and skips the body unread: it costs far
 * less than a client.
 */
export class ResponseCounter {
  readonly #take: (status: number) => void;
  /** Status of the response whose body is being skipped. */
  #status = 0;
  /** Bytes of that body that are still to come. */
  #bodyLeft = 0;
  /** The beginning of a head whose end has not arrived. */
  #begun: Buffer = NOTHING;

  /** @param take told of each response when its last byte has arrived */
  constructor(take: (status: number) => void) {
    this.#take = take;
  }

  /**
   * Reads the chunk that follows on the last one.
   * @throws Error that shows it, where it is no HTTP/1.1 response with a Content-Length
   */
  read(chunk: Buffer): void {
    let at = 0;
    let bytes = chunk;
    if (this.#begun.length > 0) {
      bytes = Buffer.concat([this.#begun, chunk]);
      this.#begun = NOTHING;
    }
    while (at < bytes.length) {
      if (this.#status === 0) {
        const end = bytes.indexOf(HEAD_END, at);
        if (end === -1) {
          this.#begun = bytes.subarray(at);
          return;
        }
        at = this.#readHead(bytes, at, end + HEAD_END.length);
      }
      const skipped = Math.min(this.#bodyLeft, bytes.length - at);
      at += skipped;
      this.#bodyLeft -= skipped;
      if (this.#bodyLeft > 0) return;
      const status = this.#status;
      this.#status = 0;
      this.#take(status);
    }
  }

  /** Returns where the body begins. */
  #readHead(bytes: Buffer, start: number, end: number): number {
    const head = bytes.toString('latin1', start, end);
    const status = STATUS_LINE.exec(head)?.[1];
    const length = CONTENT_LENGTH.exec(head)?.[1];
    if (status === undefined || length === undefined) {
      throw new Error(`not a response that says its length: ${JSON.stringify(head)}`);
    }
    this.#status = Number(status);
    this.#bodyLeft = Number(length);
    return end;
  }
}

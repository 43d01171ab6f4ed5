import { type Connection, openConnection } from './connection.js';

/** What a run of a closed loop did. */
export interface ClosedRun {
  /** Requests that were answered with 200: all that were sent. */
  readonly answered: number;
  /** Time until the last answer. */
  readonly elapsedMs: number;
}

/**
 * Connections to one server that stay open from run to run. Over each goes one request at a time,
 * the next when the last is answered. One run at a time. Requests are sent in turn, over whichever
 * connection is free.
 */
export class HttpClosedLoop {
  readonly #requests: readonly Buffer[];
  #sent = 0;
  readonly #connections: Connection[] = [];
  #answered = 0;
  #waiting = 0;
  #endMs = 0;
  #error: Error | undefined;
  #settle: (() => void) | undefined;

  private constructor(requests: readonly Buffer[]) {
    this.#requests = requests;
  }

  /** @param requests as bytes, at least one */
  static async open(
    port: number,
    requests: readonly Buffer[],
    connections: number,
  ): Promise<HttpClosedLoop> {
    const loop = new HttpClosedLoop(requests);
    for (let i = 0; i < connections; i++) {
      const connection: Connection = await openConnection(port, {
        answered: (status) => loop.#take(status, connection),
        failed: (error) => loop.#fail(error),
      });
      loop.#connections.push(connection);
    }
    return loop;
  }

  /**
   * Sends for so long, and resolves when the last answer has arrived.
   * @throws Error where an answer is not a 200, or a connection has failed
   */
  async run(runMs: number): Promise<ClosedRun> {
    const startMs = performance.now();
    this.#answered = 0;
    this.#endMs = startMs + runMs;
    await new Promise<void>((resolve) => {
      this.#settle = resolve;
      if (this.#error !== undefined) return resolve();
      this.#waiting = this.#connections.length;
      for (const connection of this.#connections) this.#send(connection);
    });
    this.#settle = undefined;
    if (this.#error !== undefined) throw this.#error;
    return { answered: this.#answered, elapsedMs: performance.now() - startMs };
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }

  #send(connection: Connection): void {
    connection.write(this.#requests[this.#sent % this.#requests.length] as Buffer);
    this.#sent++;
  }

  #take(status: number, connection: Connection): void {
    if (status === 200) this.#answered++;
    else this.#fail(new Error(`a request was answered with ${status}`));
    if (performance.now() < this.#endMs && this.#error === undefined) {
      this.#send(connection);
      return;
    }
    this.#waiting--;
    if (this.#waiting === 0) this.#settle?.();
  }

  #fail(error: Error): void {
    this.#error ??= error;
    this.#settle?.();
  }
}

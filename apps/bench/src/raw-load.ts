import type { Duplex } from 'node:stream';
import { ReplyCounter } from './resp.js';

/**
 * Commands cut into pipelines of `depth`, in turn, from the first again after the last, until a
 * pipeline ends where the commands do.
 */
export function pipelinesOf(commands: readonly Buffer[], depth: number): Buffer[] {
  const pipelines: Buffer[] = [];
  let next = 0;
  do {
    const first = next;
    pipelines.push(
      Buffer.concat(
        Array.from({ length: depth }, (_, i) => commands[(first + i) % commands.length] as Buffer),
      ),
    );
    next = (first + depth) % commands.length;
  } while (next !== 0);
  return pipelines;
}

/**
 * One connection that writes pipelines made beforehand, the next when all of the last are answered,
 * and counts the replies, arrays of integers. It does as little as a client can, so that the server
 * is what is measured. One run at a time.
 */
export class RawLoad {
  readonly #stream: Duplex;
  readonly #pipelines: readonly Buffer[];
  readonly #depth: number;
  readonly #replies: ReplyCounter = new ReplyCounter();
  #next: number;
  #waiting = 0;
  #answered = 0;
  #endMs = 0;
  #settle: ((error?: Error) => void) | undefined;

  /** @param first index of the pipeline to begin with */
  constructor(stream: Duplex, pipelines: readonly Buffer[], depth: number, first: number) {
    this.#stream = stream;
    this.#pipelines = pipelines;
    this.#depth = depth;
    this.#next = first;
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    stream.on('close', () => this.#settle?.(new Error('Redis closed the connection')));
  }

  /** Writes for so long, and resolves with the number of replies when the last has arrived. */
  run(runMs: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#answered = 0;
      this.#endMs = performance.now() + runMs;
      this.#settle = (error) => {
        this.#settle = undefined;
        if (error === undefined) resolve(this.#answered);
        else reject(error);
      };
      this.#write();
    });
  }

  #write(): void {
    this.#waiting = this.#depth;
    this.#stream.write(this.#pipelines[this.#next] as Buffer);
    this.#next = (this.#next + 1) % this.#pipelines.length;
  }

  #take(chunk: Buffer): void {
    try {
      this.#waiting -= this.#replies.count(chunk);
    } catch (error) {
      this.#settle?.(error as Error);
      return;
    }
    if (this.#waiting > 0 || this.#settle === undefined) return;
    this.#answered += this.#depth;
    if (performance.now() < this.#endMs) this.#write();
    else this.#settle();
  }
}

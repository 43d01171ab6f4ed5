import type { WriteStream } from 'node:tty';
import { progressLine } from './report.js';
import type { Observer, Snapshot } from './run.js';

/** Back to the first column, and clear the line. */
const CLEAR = '\r\x1b[2K';

/** Says on stderr what goes on: one line, rewritten, on a terminal; else one line for each step. */
export class Progress implements Observer {
  readonly #out: WriteStream;
  #step = '';

  constructor(out: WriteStream = process.stderr) {
    this.#out = out;
  }

  step(what: string): void {
    this.#step = what;
    if (this.#out.isTTY) this.#rewrite(`${what} ...`);
    else this.#out.write(`${what} ...\n`);
  }

  beat(now: Snapshot): void {
    if (this.#out.isTTY) this.#rewrite(progressLine(this.#step, now));
  }

  /** Takes the line away, so that something else can be printed. */
  clear(): void {
    if (this.#out.isTTY) this.#out.write(CLEAR);
  }

  /** Cut to the terminal: a line that wraps could not be taken away. */
  #rewrite(line: string): void {
    this.#out.write(CLEAR + line.slice(0, (this.#out.columns || 80) - 1));
  }
}

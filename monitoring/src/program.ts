import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A program that was started, and ends with this one. */
export interface Program {
  /** Resolves to the first group of the first line, of stdout or stderr, that the pattern matches. */
  line(pattern: RegExp): Promise<string>;
  /** Asks it to end, and waits until it has. */
  close(): Promise<void>;
}

const KEPT_LINES = 200;

export function start(file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Program {
  const child = spawn(file, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const output = new Output(child);
  const ended = once(child, 'close');
  ended.catch(() => undefined);
  return {
    line: (pattern) => output.find(pattern),
    async close() {
      child.kill('SIGTERM');
      await ended;
      process.off('exit', kill);
    },
  };
}

/** What a program prints, line by line. */
class Output {
  readonly #lines: string[] = [];
  readonly #waiting = new Set<() => void>();
  #ending: string | undefined;

  constructor(child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface(stream).on('line', (line) => {
        this.#lines.push(line);
        if (this.#lines.length > KEPT_LINES) this.#lines.shift();
        this.#tell();
      });
    }
    const ended = (how: string): void => {
      this.#ending ??= how;
      this.#tell();
    };
    child.once('error', (error) => ended(error.message));
    child.once('close', (code, signal) => ended(`it ended with ${signal ?? `code ${code}`}`));
  }

  find(pattern: RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = this.#lines.map((line) => pattern.exec(line)?.[1]).find(Boolean);
        if (found === undefined && this.#ending === undefined) return;
        this.#waiting.delete(look);
        if (found !== undefined) resolve(found);
        else reject(new Error([this.#ending, ...this.#lines].join('\n')));
      };
      this.#waiting.add(look);
      look();
    });
  }

  #tell(): void {
    for (const look of [...this.#waiting]) look();
  }
}

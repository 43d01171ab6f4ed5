import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** `test/fixtures/<name>` in a process of its own, which prints lines until it is ended. */
export class ReplicaProcess {
  /** What it printed, also of a process that was killed. */
  readonly lines: string[] = [];
  readonly #child: ChildProcess;
  readonly #over: Promise<unknown>;
  #complaints = '';

  constructor(name: string, args: readonly string[]) {
    const path = fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
    this.#child = spawn(process.execPath, [path, ...args], { stdio: 'pipe' });
    this.#child.stderr?.on('data', (text) => {
      this.#complaints += text;
    });
    const { stdout } = this.#child;
    if (stdout === null) throw new Error('a process with pipes has a stdout');
    createInterface({ input: stdout }).on('line', (line) => this.lines.push(line));
    // It may be gone already when it is told something.
    this.#child.stdin?.on('error', () => undefined);
    this.#over = once(this.#child, 'close');
  }

  /** Resolves when it has printed a line. */
  async ready(): Promise<void> {
    while (this.lines.length === 0) {
      if (this.#child.exitCode !== null) throw new Error(`it ended: ${this.#complaints}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /** Writes to its stdin. */
  tell(text: string): void {
    this.#child.stdin?.write(text);
  }

  /** Resolves when all that it printed has been read. Rejects where it printed to stderr. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.#child.kill(signal);
    await this.#over;
    if (this.#complaints !== '') throw new Error(`printed to stderr: ${this.#complaints}`);
  }
}

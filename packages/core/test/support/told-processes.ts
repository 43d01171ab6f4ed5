import { type ChildProcess, type ForkOptions, fork } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

interface Told {
  readonly child: ChildProcess;
  /** The code or the signal it ended with. */
  readonly ended: Promise<unknown>;
  /** What it had printed to stderr when it had ended. */
  readonly complaints: Promise<string>;
}

/**
 * `test/fixtures/<name>` in several processes, on the built package as users have it. Each tells that
 * it is ready, answers each job that it is told, and ends when it is disconnected.
 */
export class ToldProcesses<Job extends object, Answer> {
  readonly #all: readonly Told[];

  private constructor(all: readonly Told[]) {
    this.#all = all;
  }

  /** Resolves when all are ready. */
  static async start<Job extends object, Answer>(
    count: number,
    name: string,
    args: readonly string[],
  ): Promise<ToldProcesses<Job, Answer>> {
    const path = fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
    const options: ForkOptions = { execArgv: [], stdio: ['ignore', 'inherit', 'pipe', 'ipc'] };
    const all = Array.from({ length: count }, () => {
      const child = fork(path, args, options);
      const ended = once(child, 'exit').then(([code, signal]) => signal ?? code);
      return { child, ended, complaints: text(child.stderr as NodeJS.ReadableStream) };
    });
    await Promise.all(all.map(nextMessage));
    return new ToldProcesses<Job, Answer>(all);
  }

  /** Tells all of them the same at once. One job at a time. @returns what each answers */
  tellAll(job: Job): Promise<Answer[]> {
    const answers = this.#all.map((told) => nextMessage(told) as Promise<Answer>);
    for (const { child } of this.#all) child.send(job);
    return Promise.all(answers);
  }

  /** Resolves when all have ended. Rejects where one did not end well or printed to stderr. */
  async end(): Promise<void> {
    for (const { child } of this.#all) if (child.connected) child.disconnect();
    for (const { ended, complaints } of this.#all) {
      const how = await ended;
      const printed = await complaints;
      if (how !== 0 || printed !== '') throw new Error(`a process ended with ${how}: ${printed}`);
    }
  }
}

/** Rejects where the process ends first. */
async function nextMessage({ child, ended, complaints }: Told): Promise<unknown> {
  const settled = new AbortController();
  const message = once(child, 'message', { signal: settled.signal });
  const end = ended.then(async (how) => {
    throw new Error(`a process ended with ${how}: ${await complaints}`);
  });
  try {
    return (await Promise.race([message, end]))[0];
  } finally {
    settled.abort();
  }
}

import { constants } from 'node:os';

/** The terminal and npm both deliver one Ctrl-C; a further signal counts after this time. */
const SAME_PRESS_MS = 1_000;

/** The demo was asked to end before it was done. */
export class Interrupted extends Error {
  /** As shells have it: 130 for Ctrl-C. */
  readonly exitCode: number;

  constructor(signal: NodeJS.Signals) {
    super(`ended by ${signal}`);
    this.exitCode = 128 + constants.signals[signal];
  }
}

/**
 * Aborted with `Interrupted` at the first signal to end, or with the error of an output that nobody
 * reads any more. At a further signal the process ends at once; the replicas, and a Redis started
 * for the run, then end by themselves.
 */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  let firstAt: number | undefined;
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      const interrupted = new Interrupted(name);
      controller.abort(interrupted);
      firstAt ??= performance.now();
      if (performance.now() - firstAt > SAME_PRESS_MS) process.exit(interrupted.exitCode);
    });
  }
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => controller.abort(error));
  }
  return controller.signal;
}

/** What `work` resolves to, or a rejection as soon as `signal` is aborted. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  return Promise.race([work, aborted]);
}

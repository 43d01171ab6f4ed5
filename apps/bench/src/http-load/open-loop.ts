import { type Connection, openConnection } from './connection.js';
import { Pacer } from './pacer.js';

export interface OpenLoad {
  /** Of servers on this machine, one connection to each; requests are spread evenly over them. */
  readonly ports: readonly number[];
  /** The one request, as bytes. */
  readonly request: Buffer;
  readonly perSecond: number;
  /** For how long requests are sent. */
  readonly runMs: number;
  /** Ends the run early, with its reason as the error. */
  readonly signal: AbortSignal;
}

export interface OpenRun {
  /** Requests sent: the rate times the time. */
  readonly offered: number;
  /** At which they were sent in fact. */
  readonly offeredPerSecond: number;
  /** Responses by their status. */
  readonly byStatus: ReadonlyMap<number, number>;
  readonly answered: number;
  /** From the first request sent to the last answer received. */
  readonly elapsedMs: number;
  /** The longest that a request was due and not sent. */
  readonly mostLateMs: number;
}

/** Between two looks at what is due: what is due by then goes out as one pipeline per connection. */
const TICK_MS = 2;

/** How long answers are waited for after the last request. What is missing then stays missing. */
const PATIENCE_MS = 10_000;

/**
 * Sends requests at a steady rate, whatever is answered: an open loop, so a slow server is offered
 * as much as a fast one. Requests of a connection are pipelined. A connection that fails takes the
 * answers it owes with it.
 */
export async function runOpenLoop(load: OpenLoad): Promise<OpenRun> {
  const { ports, perSecond, runMs, signal } = load;
  const total = Math.floor((perSecond * runMs) / 1000);
  const pacer = new Pacer({ perSecond, total, lanes: ports.length });
  const pipeline = pipelines(load.request);
  const byStatus = new Map<number, number>();
  const connections: Connection[] = [];
  let answered = 0;
  let lastAnswerMs = 0;
  let failed = 0;
  let whenAnswered: (() => void) | undefined;
  const listener = {
    answered(status: number): void {
      byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
      answered++;
      lastAnswerMs = performance.now();
      if (answered === total) whenAnswered?.();
    },
    failed(): void {
      failed++;
      if (failed === ports.length) whenAnswered?.();
    },
  };
  try {
    for (const port of ports) connections.push(await openConnection(port, listener));
    const startMs = performance.now();
    let lastSentMs = startMs;
    let mostLateMs = 0;
    while (!pacer.done) {
      signal.throwIfAborted();
      lastSentMs = performance.now();
      mostLateMs = Math.max(mostLateMs, pacer.lateMs(lastSentMs - startMs));
      pacer.take(lastSentMs - startMs).forEach((count, lane) => {
        if (count > 0) connections[lane]?.write(pipeline(count));
      });
      if (!pacer.done) await pause(TICK_MS);
    }
    if (answered < total && failed < ports.length) {
      await Promise.race([
        pause(PATIENCE_MS),
        new Promise<void>((resolve) => {
          whenAnswered = resolve;
        }),
      ]);
    }
    return {
      offered: pacer.sent,
      offeredPerSecond: (pacer.sent / (lastSentMs - startMs)) * 1000,
      byStatus,
      answered,
      elapsedMs: lastAnswerMs - startMs,
      mostLateMs,
    };
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** So many of the request behind each other, made once for each number. */
function pipelines(request: Buffer): (count: number) => Buffer {
  const made: Buffer[] = [];
  return (count) => {
    made[count] ??= Buffer.concat(Array.from({ length: count }, () => request));
    return made[count];
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

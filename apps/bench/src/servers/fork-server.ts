import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ServerMessage, ServerOrder } from './order.js';

const PROGRAM: string = fileURLToPath(new URL('./server-process.mjs', import.meta.url));

/** How long a server may take to give back what it holds. */
const CLOSE_TIMEOUT_MS = 5000;

/** A server in a process of its own. */
export interface ServerUnderTest {
  /** On the loopback address. */
  readonly port: number;
  /** CPU time its process has used, user and system, all threads. One question at a time. */
  cpuUs(): Promise<number>;
  /** Ends the process and waits until it has ended. */
  close(): Promise<void>;
}

/** Starts a server as apps are run in production; it listens when this resolves. */
export async function forkServer(order: ServerOrder): Promise<ServerUnderTest> {
  const env = { ...process.env, NODE_ENV: 'production' };
  const child = fork(PROGRAM, { execArgv: [], env });
  const ended = once(child, 'exit');
  try {
    const ready = await ask(child, order);
    if (!('port' in ready)) throw new Error('a server did not say where it listens');
    return {
      port: ready.port,
      async cpuUs() {
        const answer = await ask(child, 'cpu');
        if (!('cpuUs' in answer)) throw new Error('a server did not say what CPU time it used');
        return answer.cpuUs;
      },
      close: () => end(child, ended),
    };
  } catch (error) {
    await end(child, ended);
    throw error;
  }
}

/** Its next message. */
async function ask(child: ChildProcess, message: ServerOrder | 'cpu'): Promise<ServerMessage> {
  const settled = new AbortController();
  const { signal } = settled;
  const answer = once(child, 'message', { signal });
  const exit = once(child, 'exit', { signal }).then(([code, killedBy]) => {
    throw new Error(`a server ended by ${killedBy ?? code}`);
  });
  child.send(message);
  try {
    const [first] = await Promise.race([answer, exit]);
    return first as ServerMessage;
  } finally {
    settled.abort();
  }
}

async function end(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (child.connected) child.disconnect();
  const timer = setTimeout(() => child.kill('SIGKILL'), CLOSE_TIMEOUT_MS);
  await ended;
  clearTimeout(timer);
}

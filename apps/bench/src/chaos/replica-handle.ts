import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ReplicaAccount } from './account.js';
import type { ReplicaAnswer, ReplicaCommand, ReplicaOrder } from './messages.js';

const PROGRAM: string = fileURLToPath(new URL('./chaos-replica.mjs', import.meta.url));

/** How long a replica may take to give back what it holds. */
const CLOSE_TIMEOUT_MS = 5000;

/** A replica in a process of its own. */
export class ReplicaHandle {
  readonly #child: ChildProcess = fork(PROGRAM, { serialization: 'advanced' });
  readonly #ended: Promise<unknown[]> = once(this.#child, 'exit');

  /** Resolves when it is under load and knows how many replicas there are. */
  async start(order: ReplicaOrder): Promise<void> {
    await this.#ask(order);
  }

  /** It keeps account from now on. */
  begin(): void {
    this.#send('begin');
  }

  /** Its load ends. */
  async end(): Promise<ReplicaAccount> {
    return (await this.#ask('end')) as ReplicaAccount;
  }

  /** Waits until the process has ended, and kills it where that takes too long. */
  async close(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), CLOSE_TIMEOUT_MS);
    await this.#ended;
    clearTimeout(timer);
  }

  /** Its next message. */
  async #ask(message: ReplicaOrder | ReplicaCommand): Promise<ReplicaAnswer> {
    const settled = new AbortController();
    const answer = once(this.#child, 'message', { signal: settled.signal });
    const exit = this.#ended.then(([code, killedBy]) => {
      throw new Error(`a replica ended by ${killedBy ?? code}`);
    });
    this.#send(message);
    try {
      const [first] = await Promise.race([answer, exit]);
      return first as ReplicaAnswer;
    } finally {
      settled.abort();
    }
  }

  #send(message: ReplicaOrder | ReplicaCommand): void {
    this.#child.send(message, () => {}); // where it does not get through, the process has ended
  }
}

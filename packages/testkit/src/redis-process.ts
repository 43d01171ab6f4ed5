import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { portHandle, type RedisConnection, type RedisHandle, socketHandle } from './address.js';
import { PortTakenError } from './free-port.js';
import { type GuardedProcess, spawnGuarded } from './orphan-guard.js';
import { waitUntilReady } from './ready.js';
import type { RedisServer } from './redis-server.js';

const START_TIMEOUT_MS = 10_000;
const STOP_TIMEOUT_MS = 10_000;

/** A `redis-server` or `valkey-server` run by this process, in a folder of its own. */
export class RedisProcess implements RedisServer {
  readonly #program: string;
  readonly #args: readonly string[];
  readonly #folder: string;
  readonly #handle: RedisHandle;
  #process: GuardedProcess | undefined;

  private constructor(
    program: string,
    args: readonly string[],
    folder: string,
    handle: RedisHandle,
  ) {
    this.#program = program;
    this.#args = args;
    this.#folder = folder;
    this.#handle = handle;
  }

  /**
   * Starts the server and waits until it answers. It listens on `port` of 127.0.0.1, or on a unix
   * socket where there is none. Fails with `PortTakenError` if somebody else has the port.
   * @param config what its configuration file says, for a program that must have one, as a
   * Sentinel, which writes to it; none by default
   */
  static async start(
    program: string,
    listen: { readonly port?: number },
    args: readonly string[],
    config?: string,
  ): Promise<RedisProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'redis-'));
    const socket = join(folder, 'redis.sock');
    const handle =
      listen.port === undefined ? socketHandle(socket) : portHandle('127.0.0.1', listen.port);
    const address =
      listen.port === undefined
        ? ['--port', '0', '--unixsocket', socket]
        : ['--port', String(listen.port), '--bind', '127.0.0.1'];
    const quiet = ['--save', '', '--appendonly', 'no', '--daemonize', 'no', '--dir', folder];
    const file = join(folder, 'redis.conf');
    if (config !== undefined) await writeFile(file, config);
    const all = [...(config === undefined ? [] : [file]), ...address, ...quiet, ...args];
    const server = new RedisProcess(program, all, folder, handle);
    try {
      await server.#start();
      return server;
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  get url(): string {
    return this.#handle.url;
  }

  get connection(): RedisConnection {
    return this.#handle.connection;
  }

  get pid(): number | undefined {
    return this.#running()?.pid;
  }

  async pause(): Promise<void> {
    const running = this.#needRunning('pause');
    running.signal('SIGSTOP');
    await frozen(running);
  }

  async resume(): Promise<void> {
    this.#needRunning('resume').signal('SIGCONT');
  }

  async stop(): Promise<void> {
    const running = this.#running();
    if (running === undefined) return;
    running.signal('SIGCONT'); // a paused process would not see the next one
    running.signal('SIGTERM');
    if (await endsWithin(running, STOP_TIMEOUT_MS)) return;
    await this.kill();
    throw this.#failure(`did not stop within ${STOP_TIMEOUT_MS} ms of SIGTERM and was killed`);
  }

  async kill(): Promise<void> {
    const running = this.#running();
    running?.signal('SIGKILL');
    if (running !== undefined && !(await endsWithin(running, STOP_TIMEOUT_MS))) {
      throw this.#failure(`did not end within ${STOP_TIMEOUT_MS} ms of SIGKILL`);
    }
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.#start();
  }

  async close(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #start(): Promise<void> {
    if (!existsSync(this.#folder)) throw new Error(`${this.#program}: closed, cannot be started`);
    const started = await spawnGuarded(this.#program, this.#args, this.#folder);
    this.#process = started;
    const giveUp = (): void => {
      if (started.ending === undefined) return;
      if (/address already in use/i.test(started.output())) {
        throw new PortTakenError(`port ${this.connection.port} is taken`);
      }
      throw this.#failure(`ended with ${started.ending} instead of answering`);
    };
    try {
      await waitUntilReady(this.#handle, START_TIMEOUT_MS, {
        accept: (client) => mustBe(client, started.pid),
        giveUp,
      });
    } catch (error) {
      if (started.ending !== undefined) throw error;
      throw this.#failure(`does not start: ${error instanceof Error ? error.message : error}`);
    }
  }

  #running(): GuardedProcess | undefined {
    return this.#process?.ending === undefined ? this.#process : undefined;
  }

  #needRunning(verb: string): GuardedProcess {
    const running = this.#running();
    if (running === undefined) throw this.#failure(`cannot ${verb}: it does not run`);
    return running;
  }

  #failure(what: string): Error {
    const output = this.#process?.output() || '(nothing)';
    return new Error(`${this.#program} at ${this.url}: ${what}. It printed:\n${output}`);
  }
}

/** Another server may have taken the port: the one that answers must be the one we started. */
async function mustBe(client: Redis, pid: number): Promise<void> {
  const answering = /process_id:(\d+)/.exec(await client.info('server'))?.[1];
  if (answering !== String(pid)) throw new Error(`process ${answering} answers, not ${pid}`);
}

async function endsWithin(running: GuardedProcess, timeoutMs: number): Promise<boolean> {
  const timer = new AbortController();
  const timeout = delay(timeoutMs, undefined, { signal: timer.signal }).catch(() => {});
  await Promise.race([running.ended, timeout]);
  timer.abort();
  return running.ending !== undefined;
}

/**
 * SIGSTOP takes effect a moment after it is sent. Linux says when; elsewhere that moment is
 * shorter than a round trip to the server.
 */
async function frozen(running: GuardedProcess): Promise<void> {
  if (process.platform !== 'linux') return;
  while (running.ending === undefined) {
    const stat = await readFile(`/proc/${running.pid}/stat`, 'utf8').catch(() => '');
    // The state follows the program's name, which stands in parentheses and may hold some.
    if (stat.slice(stat.lastIndexOf(')') + 2).startsWith('T')) return;
    await delay(1);
  }
}

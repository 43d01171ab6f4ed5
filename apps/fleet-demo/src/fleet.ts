import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type MemoryStore, memoryStore } from '@rl/core';
import type { ReplicaConfig, ReplicaReady } from './replica.js';
import { createService, type Listening, listen } from './service.js';

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 3_000;

/** The replicas of the service, wherever they run. */
export interface Fleet {
  /** Where the replicas that answer are reached, on 127.0.0.1. */
  readonly ports: readonly number[];
  /** Starts so many more and resolves when all of them answer; rejects where one does not. */
  add(count: number): Promise<void>;
  /** @throws Error where a replica has ended although nobody stopped it */
  check(): void;
  /** Ends all of them, also those that are still starting. Never rejects. */
  stop(): Promise<void>;
}

/** Replicas as HTTP servers in this process, over one store in its memory. */
export class InProcessFleet implements Fleet {
  readonly #limit: number;
  readonly #replicas: number;
  readonly #store: MemoryStore = memoryStore();
  readonly #servers: Listening[] = [];

  constructor(limit: number, replicas: number) {
    this.#limit = limit;
    this.#replicas = replicas;
  }

  get ports(): readonly number[] {
    return this.#servers.map((server) => server.port);
  }

  async add(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      this.#servers.push(await listen(createService(this.#limit, this.#store, this.#replicas)));
    }
  }

  check(): void {}

  async stop(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.close()));
    await this.#store.close();
  }
}

/** A replica's process and how to know that it is over. */
interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
}

/** Replicas as processes of their own, over one Redis. They end when this process does. */
export class ProcessFleet implements Fleet {
  readonly #config: ReplicaConfig;
  readonly #entry: string;
  readonly #running: Running[] = [];
  readonly #ports: number[] = [];
  #failure: Error | undefined;
  #stopping = false;

  /** @param entry the built `replica.mjs`; by default the one beside this program */
  constructor(
    config: ReplicaConfig,
    entry: string = fileURLToPath(new URL('./replica.mjs', import.meta.url)),
  ) {
    this.#config = config;
    this.#entry = entry;
  }

  get ports(): readonly number[] {
    return this.#ports;
  }

  async add(count: number): Promise<void> {
    const starting = Array.from({ length: count }, () => this.#start());
    this.#ports.push(...(await Promise.all(starting)));
  }

  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#running.map(end));
  }

  /** Resolves to the port. What a replica prints goes to stderr, as stdout is for the report. */
  #start(): Promise<number> {
    const name = `replica ${this.#running.length + 1}`;
    const child = fork(this.#entry, { execArgv: [], stdio: ['ignore', 2, 2, 'ipc'] });
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error(`${name} did not answer within ${START_TIMEOUT_MS} ms`));
      }, START_TIMEOUT_MS);
      const ended = new Promise<void>((done) => {
        const fail = (how: string) => {
          clearTimeout(timer);
          const error = new Error(`${name} ${how}`);
          if (!this.#stopping) this.#failure ??= error;
          reject(error);
          done();
        };
        child.on('error', (error) => fail(`cannot run: ${error.message}`));
        child.once('exit', (code, signal) => {
          fail(`ended with ${signal === null ? `exit code ${code}` : `signal ${signal}`}`);
        });
      });
      this.#running.push({ child, ended });
      child.once('message', (ready: ReplicaReady) => {
        clearTimeout(timer);
        resolve(ready.port);
      });
      child.send(this.#config);
    });
  }
}

/** Lets a replica end by itself, and kills it where it does not. */
async function end({ child, ended }: Running): Promise<void> {
  if (child.connected) child.disconnect();
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(timer);
}

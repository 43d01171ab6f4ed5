import { randomBytes } from 'node:crypto';
import type { ContainerRuntimeClient } from 'testcontainers';
import { portHandle, type RedisConnection, type RedisHandle } from './address.js';
import { PortTakenError } from './free-port.js';
import { waitUntilReady } from './ready.js';
import type { RedisServer } from './redis-server.js';

const REDIS_PORT = 6379;
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_S = 10;
const DEFAULT_IMAGE = 'redis:7-alpine';

/** Inside its network the server has to listen for the engine's proxy, not for itself alone. */
const COMMAND = [
  ...['redis-server', '--port', String(REDIS_PORT), '--bind', '0.0.0.0', '--protected-mode', 'no'],
  ...['--save', '', '--appendonly', 'no', '--daemonize', 'no'],
];

type Container = ReturnType<ContainerRuntimeClient['container']['getById']>;

/**
 * A Redis in a container, for machines that have a Docker engine and no `redis-server`. The image
 * is `RL_TEST_REDIS_IMAGE`, or `redis:7-alpine`. After a crash of the tests the reaper of
 * testcontainers removes it.
 */
export class RedisContainer implements RedisServer {
  readonly #container: Container;
  readonly #handle: RedisHandle;
  #runs = true;
  #closed = false;

  /** A container's process belongs to the engine: its number means nothing here. */
  readonly pid: undefined = undefined;

  private constructor(container: Container, handle: RedisHandle) {
    this.#container = container;
    this.#handle = handle;
  }

  /**
   * Starts a container that is reached at `port` of the engine's host and waits until it answers.
   * Fails with `PortTakenError` if somebody else has the port.
   */
  static async start(port: number, args: readonly string[]): Promise<RedisContainer> {
    const { GenericContainer, getContainerRuntimeClient, Wait } = await import('testcontainers');
    const image = process.env.RL_TEST_REDIS_IMAGE || DEFAULT_IMAGE;
    const engine = await getContainerRuntimeClient();
    const name = `test-redis-${randomBytes(6).toString('hex')}`;
    const container = engine.container.getById(name);
    let printed = '';
    const started = await new GenericContainer(image)
      .withName(name)
      .withCommand([...COMMAND, ...args])
      // A fixed port, because the engine would choose another one at each restart.
      .withExposedPorts({ container: REDIS_PORT, host: port })
      // The default looks for a shell inside, which an image need not have.
      .withWaitStrategy(Wait.forLogMessage('Ready to accept connections'))
      .withStartupTimeout(START_TIMEOUT_MS)
      .withLogConsumer((stream) => stream.on('data', (text) => (printed += text)))
      .start()
      .catch(async (error: unknown) => {
        await container.remove({ force: true, v: true }).catch(() => {}); // it may not exist
        const reason = error instanceof Error ? error.message : String(error);
        if (/port is already allocated|address already in use/i.test(reason)) {
          throw new PortTakenError(`port ${port} is taken`);
        }
        throw new Error(
          `no Redis from image ${image} (RL_TEST_REDIS_IMAGE): ${reason}. ` +
            `It printed:\n${printed.trim() || '(nothing)'}`,
          { cause: error },
        );
      });
    const server = new RedisContainer(container, portHandle(started.getHost(), port));
    try {
      await waitUntilReady(server, START_TIMEOUT_MS);
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

  async pause(): Promise<void> {
    await this.#container.pause();
  }

  async resume(): Promise<void> {
    await this.#container.unpause();
  }

  async stop(): Promise<void> {
    if (!this.#runs) return;
    this.#runs = false;
    await this.#container.stop({ t: STOP_TIMEOUT_S });
  }

  async kill(): Promise<void> {
    if (!this.#runs) return;
    this.#runs = false;
    const ended = this.#container.wait();
    await this.#container.kill();
    await ended;
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.#container.start();
    this.#runs = true;
    await waitUntilReady(this, START_TIMEOUT_MS);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#runs = false;
    await this.#container.remove({ force: true, v: true });
  }
}

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { byWayOf, type RedisConnection, type RedisHandle } from './address.js';
import { type Faults, ProxiedConnection, type Traffic } from './proxied-connection.js';
import { ReplyCuts } from './reply-cuts.js';

const HOST = '127.0.0.1';

/** How much later bytes arrive. 0, the default, adds nothing. At most 2147483647. */
export interface ProxyDelay {
  readonly toServerMs?: number;
  readonly toClientMs?: number;
}

/**
 * A way to a Redis that can be made to misbehave, for all its connections alike. Faults can be
 * combined. A connection it destroys is closed with FIN, as by a server that died; where bytes of
 * the client were still unread the system makes that a RST. The client learns of it a moment
 * later: wait for the client's own `close` event before sending it more. When the real server
 * closes a connection or does not accept one, so does the proxy.
 */
export interface FaultProxy extends RedisHandle {
  /** What went through so far. */
  readonly counters: Readonly<Traffic>;
  /** For bytes that come in from now on, whose order stays as it is on each connection. */
  delay(delay: ProxyDelay): void;
  /** Destroys all connections. New ones are accepted. */
  cut(): void;
  /** Destroys all connections and refuses new ones: nobody listens until `accept`. */
  refuse(): Promise<void>;
  /** Listens again on the same port; fails where another program has taken it meanwhile. */
  accept(): Promise<void>;
  /**
   * Swallows all bytes in both directions, delayed ones on their way too. Connections stay open,
   * new ones are accepted, and none is ever answered, not even its end.
   */
  blackhole(): void;
  /** Ends a black hole, if there is one: all connections are destroyed, as they lost bytes. */
  heal(): void;
  /**
   * Lets a request through and loses the reply: the client cannot know what the server decided.
   *
   * Waits for a chunk from a client, delivered from now on, that `matches` (default: any, the
   * handshake of a new connection too). The first bytes from the server after it, and all that
   * follow, are dropped, and the client is cut off. Resolves when that has happened; by then the
   * server has executed every command it was sent on that connection. Rejects if the connection
   * ends without a reply or the proxy closes first. Each call cuts one connection.
   *
   * A chunk is what one read of the socket gave: one command, several, or part of a long one. So
   * replies to commands pipelined around the matching one are lost with it unless they had
   * arrived, and a command sent after it may or may not have reached the server.
   */
  cutBeforeReply(matches?: (request: Buffer) => boolean): Promise<void>;
  /** Destroys all connections and listens no more. Safe to repeat; nothing comes after it. */
  close(): Promise<void>;
}

/**
 * Starts a proxy to `target` on a free port of 127.0.0.1; user, password and database stay those
 * of the target. TLS is refused: the proxy must see plain bytes. It never keeps a process alive.
 */
export async function startFaultProxy(
  target: { readonly connection: RedisConnection },
  delay: ProxyDelay = {},
): Promise<FaultProxy> {
  if (target.connection.tls !== undefined) {
    throw new TypeError('target must be a Redis without TLS: a fault proxy needs plain bytes');
  }
  const proxy = new TcpFaultProxy(target.connection);
  proxy.delay(delay);
  await proxy.accept();
  return proxy;
}

class TcpFaultProxy implements FaultProxy {
  readonly counters: Traffic = { connections: 0, bytesToServer: 0, bytesToClient: 0, cuts: 0 };
  readonly #target: RedisConnection;
  readonly #faults: Faults = {
    toServerMs: 0,
    toClientMs: 0,
    blackholed: false,
    replyCuts: new ReplyCuts(),
  };
  readonly #connections = new Set<ProxiedConnection>();
  #listener: Server | undefined;
  /** 0 until the system has chosen one. */
  #port = 0;
  #closed = false;

  constructor(target: RedisConnection) {
    this.#target = target;
  }

  get url(): string {
    return this.#handle().url;
  }

  get connection(): RedisConnection {
    return this.#handle().connection;
  }

  delay({ toServerMs = 0, toClientMs = 0 }: ProxyDelay): void {
    Object.assign(this.#faults, {
      toServerMs: checkedDelay('toServerMs', toServerMs),
      toClientMs: checkedDelay('toClientMs', toClientMs),
    });
  }

  cut(): void {
    this.counters.cuts += this.#connections.size;
    this.#destroyAll();
  }

  async refuse(): Promise<void> {
    const stopped = this.#stopListening();
    this.cut();
    await stopped;
  }

  async accept(): Promise<void> {
    if (this.#closed) throw new Error('the fault proxy is closed');
    if (this.#listener !== undefined) return;
    const listener = createServer({ allowHalfOpen: true, noDelay: true });
    listener.on('connection', (client) => this.#connected(client));
    listener.listen(this.#port, HOST);
    this.#listener = listener;
    try {
      await once(listener, 'listening');
    } catch (error) {
      this.#listener = undefined;
      throw error;
    }
    listener.unref(); // only now: the caller waits for it
    this.#port = (listener.address() as AddressInfo).port;
  }

  blackhole(): void {
    this.#faults.blackholed = true;
  }

  heal(): void {
    if (!this.#faults.blackholed) return;
    this.#faults.blackholed = false;
    this.cut();
  }

  cutBeforeReply(matches: (request: Buffer) => boolean = () => true): Promise<void> {
    return this.#faults.replyCuts.arm(matches);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const stopped = this.#stopListening();
    this.#destroyAll();
    this.#faults.replyCuts.failAll('the proxy was closed before such a request came');
    await stopped;
  }

  #handle(): RedisHandle {
    return byWayOf(this.#target, HOST, this.#port);
  }

  #connected(client: Socket): void {
    this.counters.connections += 1;
    const { path, host = HOST, port = 6379 } = this.#target;
    const address = path === undefined ? { host, port } : { path };
    const server = connect({ ...address, allowHalfOpen: true, noDelay: true });
    const connection: ProxiedConnection = new ProxiedConnection(
      client,
      server,
      this.#faults,
      this.counters,
      () => this.#connections.delete(connection),
    );
    this.#connections.add(connection);
  }

  #destroyAll(): void {
    for (const connection of this.#connections) connection.destroy();
  }

  /** The port is free when this returns; resolves when the connections have ended too. */
  #stopListening(): Promise<void> {
    const listener = this.#listener;
    this.#listener = undefined;
    return new Promise((resolve) => {
      if (listener === undefined) resolve();
      else listener.close(() => resolve());
    });
  }
}

function checkedDelay(field: string, value: number): number {
  if (typeof value === 'number' && value >= 0 && value <= 0x7fffffff) return value;
  throw new TypeError(`${field} must be a number from 0 to 2147483647, not ${String(value)}`);
}

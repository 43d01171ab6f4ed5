import { Redis } from 'ioredis';
import type { RedisHandle } from './address.js';

const COMMAND_TIMEOUT_MS = 5_000;

/** One client for each server of a group, to set it up and to look at it. */
export class Controls {
  readonly #clients = new Map<RedisHandle, Redis>();

  /** Its commands fail within 5 s where the server is silent, at once where it is gone. */
  of(server: RedisHandle): Redis {
    const known = this.#clients.get(server);
    if (known !== undefined) return known;
    const client = new Redis({
      ...server.connection,
      commandTimeout: COMMAND_TIMEOUT_MS,
      enableReadyCheck: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => 20,
    });
    client.on('error', () => {}); // the command fails with it
    this.#clients.set(server, client);
    return client;
  }

  close(): void {
    for (const client of this.#clients.values()) client.disconnect();
    this.#clients.clear();
  }
}

/** The value of a `field:value` line of INFO or CLUSTER INFO. */
export function infoField(info: string, field: string): string | undefined {
  const line = info.split('\r\n').find((text) => text.startsWith(`${field}:`));
  return line?.slice(field.length + 1);
}

/** The port a server listens on. Throws where it has a unix socket alone. */
export function portOf(server: RedisHandle): number {
  const { port } = server.connection;
  if (port === undefined) throw new Error(`${server.url} has no port`);
  return port;
}

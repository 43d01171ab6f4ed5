import { all } from './all.js';
import { type Controls, infoField, portOf } from './controls.js';
import type { RedisServer } from './redis-server.js';
import { until } from './until.js';

/** What the Sentinels call what they watch. */
export const NAME = 'primary';

const SETTLE_TIMEOUT_MS = 30_000;

/** A primary with Redis replicas, watched by Sentinels. Call its methods one at a time. */
export interface SentinelGroup {
  /** The primary at first, then its Redis replicas. */
  readonly servers: readonly RedisServer[];
  readonly sentinels: readonly RedisServer[];
  /** `new Redis(connection)`: a client that asks the Sentinels who the primary is. */
  readonly connection: {
    readonly sentinels: { readonly host: string; readonly port: number }[];
    readonly name: string;
  };
  /** The primary by what the first Sentinel says. */
  primary(): Promise<RedisServer>;
  /** Ends the primary without warning; returns it. */
  killPrimary(): Promise<RedisServer>;
  /**
   * Resolves to the one that has taken over, when all Sentinels name it and it says so itself.
   * Fails where no primary was killed.
   */
  untilPromoted(): Promise<RedisServer>;
  /** Ends all and removes what they left on disk. Safe to repeat. */
  close(): Promise<void>;
}

/** The servers of a group that Sentinels watch already. */
export class RunningGroup implements SentinelGroup {
  readonly servers: readonly RedisServer[];
  readonly sentinels: readonly RedisServer[];
  readonly #controls: Controls;
  #killed: RedisServer | undefined;

  constructor(
    servers: readonly RedisServer[],
    sentinels: readonly RedisServer[],
    controls: Controls,
  ) {
    this.servers = servers;
    this.sentinels = sentinels;
    this.#controls = controls;
  }

  get connection(): SentinelGroup['connection'] {
    const addresses = this.sentinels.map((server) => ({ host: '127.0.0.1', port: portOf(server) }));
    return { sentinels: addresses, name: NAME };
  }

  primary(): Promise<RedisServer> {
    return this.#namedBy(this.sentinels[0] as RedisServer);
  }

  async killPrimary(): Promise<RedisServer> {
    const primary = await this.primary();
    await primary.kill();
    this.#killed = primary;
    return primary;
  }

  async untilPromoted(): Promise<RedisServer> {
    const killed = this.#killed;
    if (killed === undefined) throw new Error('untilPromoted: killPrimary was not called');
    return until(`a Redis replica takes over from ${killed.url}`, SETTLE_TIMEOUT_MS, async () => {
      const named = new Set(await all(this.sentinels.map((server) => this.#namedBy(server))));
      const [server] = named;
      if (named.size !== 1 || server === undefined || server === killed) return undefined;
      const replication = await this.#controls.of(server).info('replication');
      return infoField(replication, 'role') === 'master' ? server : undefined;
    });
  }

  async close(): Promise<void> {
    this.#controls.close();
    await Promise.all([...this.sentinels, ...this.servers].map((server) => server.close()));
  }

  async #namedBy(sentinel: RedisServer): Promise<RedisServer> {
    const client = this.#controls.of(sentinel);
    const address = (await client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME)) as string[];
    const server = this.servers.find((known) => portOf(known) === Number(address[1]));
    if (server === undefined) throw new Error(`a Sentinel names ${address.join(':')}: unknown`);
    return server;
  }
}

import {
  type FaultProxy,
  type RedisServer,
  startFaultProxy,
  startRedis,
  startSentinel,
} from '@rl/testkit';
import { Redis, type RedisOptions } from 'ioredis';
import type { Cell, Death } from './cell.js';

/** A primary and its Redis replica. */
export interface Field {
  /** A client of the primary, or of who takes over. */
  connect(): Redis;
  /**
   * Ends the primary by SIGKILL, and in the same turn, where it is a machine that dies, what is on its
   * way to its Redis replica. Resolves to a client of the Redis replica when that is the primary.
   */
  failOver(): Promise<Redis>;
  /** Ends all of it. */
  close(): Promise<void>;
}

/** What `docs/stores.md` advises. */
const CLIENT: Omit<RedisOptions, 'replyMapping'> = {
  maxRetriesPerRequest: 0,
  retryStrategy: (attempt) => Math.min(attempt * 50, 500),
};

export function openField({
  promotion,
  linkMs,
  death,
}: Pick<Cell, 'promotion' | 'linkMs' | 'death'>): Promise<Field> {
  return promotion === 'command' ? openPair(linkMs, death) : openGroup(linkMs, death);
}

async function openPair(linkMs: number, death: Death): Promise<Field> {
  const primary = await startRedis({ args: ['--repl-diskless-sync-delay', '0'] });
  const link = await startFaultProxy(primary);
  const replica = await startRedis({ args: ['--replicaof', `127.0.0.1 ${link.connection.port}`] });
  const clients = new Clients();
  const control = clients.connect(replica.connection);
  await untilCopied(clients.connect(primary.connection));
  link.delay({ toClientMs: linkMs });
  return {
    connect: () => clients.connect(primary.connection),
    failOver: async () => {
      const dead = primary.kill();
      if (death === 'machine') link.blackhole();
      await dead;
      await untilRead(control);
      await control.replicaof('NO', 'ONE');
      return control;
    },
    close: () => closeAll(clients, link, [primary, replica]),
  };
}

async function openGroup(linkMs: number, death: Death): Promise<Field> {
  let link: FaultProxy | undefined;
  const group = await startSentinel({
    downAfterMs: 300,
    replicationVia: async (primary) => {
      link = await startFaultProxy(primary);
      return link.connection.port as number;
    },
  });
  const clients = new Clients();
  const primary = group.servers[0] as RedisServer;
  await untilCopied(clients.connect(primary.connection));
  link?.delay({ toClientMs: linkMs });
  return {
    connect: () => clients.connect({ ...group.connection, sentinelRetryStrategy: () => 50 }),
    failOver: async () => {
      const dead = primary.kill(); // `killPrimary` asks a Sentinel first
      if (death === 'machine') link?.blackhole();
      await dead;
      await group.killPrimary();
      return clients.connect((await group.untilPromoted()).connection);
    },
    close: () => closeAll(clients, link, [group]),
  };
}

class Clients {
  readonly #clients: Redis[] = [];

  connect(options: Omit<RedisOptions, 'replyMapping'>): Redis {
    const client = new Redis({ ...CLIENT, ...options });
    client.on('error', () => {}); // what it was asked fails with it
    this.#clients.push(client);
    return client;
  }

  close(): void {
    for (const client of this.#clients) client.disconnect();
  }
}

async function closeAll(
  clients: Clients,
  link: FaultProxy | undefined,
  servers: readonly { close(): Promise<void> }[],
): Promise<void> {
  clients.close();
  await Promise.all(servers.map((server) => server.close()));
  await link?.close();
}

/** A Redis replica that says it is connected is not yet sent what is written. */
async function untilCopied(primary: Redis): Promise<void> {
  const untilMs = performance.now() + 30_000;
  do {
    if (performance.now() > untilMs) throw new Error('no Redis replica after 30 s');
    await primary.set('begin', 1, 'PX', 1);
  } while ((await primary.wait(1, 100)) < 1);
}

/** What has arrived is read before the Redis replica is promoted, as those who do so wait much longer. */
async function untilRead(replica: Redis): Promise<void> {
  const offset = async () => /slave_repl_offset:(\d+)/.exec(await replica.info('replication'))?.[1];
  for (let before: string | undefined, now = await offset(); now !== before; ) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    [before, now] = [now, await offset()];
  }
}

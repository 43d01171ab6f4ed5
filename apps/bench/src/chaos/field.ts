import { createLimiter } from '@rl/core';
import { redisStore } from '@rl/core/redis';
import { type FaultProxy, type RedisServer, startFaultProxy, startRedis } from '@rl/testkit';
import { Redis } from 'ioredis';
import { POLICIES } from './traffic.js';

/** What replicas log in with: the faults take its rights away, not those of who causes them. */
export const USER = 'replica';
const PASSWORD = 'chaos';

/** What the user may do, in the words of ACL SETUSER. */
export const RIGHTS: readonly string[] = ['on', `>${PASSWORD}`, '~*', '&*', '+@all'];

/** A server of our own, and a way to it for each replica that can be made to misbehave. */
export interface Field {
  readonly server: RedisServer;
  /** By the number of the replica. */
  readonly proxies: readonly FaultProxy[];
  /** Runs one command, past the proxies and with all rights. */
  command(name: string, ...args: readonly (string | number)[]): Promise<unknown>;
  /** Permits that the server has been charged for under the policy `ledger`, as far as it remembers. */
  charged(): Promise<number>;
  /** Ends all of it, also where a fault has not ended. */
  close(): Promise<void>;
}

export async function openField(replicas: number): Promise<Field> {
  const server = await startRedis({ args: ['--user', USER, ...RIGHTS] });
  const proxies: FaultProxy[] = [];
  const close = async (): Promise<void> => {
    for (const proxy of proxies) await proxy.close();
    await server.close();
  };
  try {
    const connection = { ...server.connection, username: USER, password: PASSWORD };
    for (let i = 0; i < replicas; i++) proxies.push(await startFaultProxy({ connection }));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    server,
    proxies,
    command: (...command) => run(server, command),
    charged: () => charged(server),
    close,
  };
}

async function run(
  { connection }: RedisServer,
  [name, ...args]: readonly [string, ...(string | number)[]],
): Promise<unknown> {
  const client = new Redis({ ...connection, lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => {}); // the command fails with it
  try {
    return await client.call(name, ...args);
  } finally {
    client.disconnect();
  }
}

async function charged({ connection }: RedisServer): Promise<number> {
  const client = new Redis({ ...connection, retryStrategy: () => null });
  client.on('error', () => {}); // the question fails with it
  const store = redisStore(client);
  // It is no replica: it sends no heartbeat.
  const fallback = { replicas: 1, deadline: '10s' } as const;
  const limiter = createLimiter({ policies: POLICIES, store, fallback });
  try {
    const { limit, remaining } = await limiter.peek({ ledger: 'everybody' });
    return limit - remaining;
  } finally {
    client.disconnect();
  }
}

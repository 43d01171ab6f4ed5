import type { Duplex } from 'node:stream';
import { Redis } from 'ioredis';

export interface ClientOptions {
  readonly enableAutoPipelining?: boolean;
}

/** The server all contenders of a scenario use. Others may use it too, at their risk. */
export interface RedisUnderTest {
  readonly url: string;
  /** Its version, as `INFO server` gives it. */
  readonly version: string;
  /** A connected client. Contenders get equal options, or the comparison is none. */
  connect(options?: ClientOptions): Promise<Redis>;
  /**
   * A connection that is ready for commands as bytes, on the database of the others; whoever reads
   * from it gets the replies as bytes. To be destroyed by the caller.
   */
  connectRaw(): Promise<Duplex>;
  /** CPU time the server has used since it started, user and system, for whomever. */
  cpuUs(): Promise<number>;
  /** Calls of scripts (EVAL, EVALSHA) it has executed since it started, for whomever. */
  scriptCalls(): Promise<number>;
  /** Removes every key that begins so. The prefix is taken literally: of `randomPrefix`. */
  removeKeys(prefix: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens the server at `url`; one connection of its own serves for what is asked about it. */
export async function openRedis(url: string): Promise<RedisUnderTest> {
  const connect = async (
    options: ClientOptions & { retryStrategy?: () => null } = {},
  ): Promise<Redis> => {
    const client = new Redis(url, { ...options, lazyConnect: true });
    await client.connect();
    return client;
  };
  const observer = await connect();
  const field = async (section: string, name: string): Promise<string> => {
    const info = await observer.info(section);
    const value = new RegExp(`^${name}:(.*)\\r$`, 'm').exec(info)?.[1];
    if (value === undefined) throw new Error(`INFO ${section} has no ${name}`);
    return value;
  };
  return {
    url,
    version: await field('server', 'redis_version'),
    connect,
    async connectRaw() {
      // The client greets the server, as the URL asks; behind this answer it waits for no other.
      const client = await connect({ retryStrategy: () => null });
      await client.ping();
      return client.stream.removeAllListeners('data');
    },
    async cpuUs() {
      const user = Number(await field('cpu', 'used_cpu_user'));
      const system = Number(await field('cpu', 'used_cpu_sys'));
      return (user + system) * 1e6;
    },
    async scriptCalls() {
      const stats = await observer.info('commandstats');
      const calls = [...stats.matchAll(/^cmdstat_(?:eval|evalsha):calls=(\d+),/gm)];
      return calls.reduce((sum, [, count]) => sum + Number(count), 0);
    },
    async removeKeys(prefix) {
      for await (const keys of observer.scanStream({ match: `${prefix}*`, count: 1000 })) {
        if (keys.length > 0) await observer.unlink(keys);
      }
    },
    async close() {
      await observer.quit();
    },
  };
}

import { Redis } from 'ioredis';

/** The server all contenders of a scenario use. Others may use it too, at their risk. */
export interface RedisUnderTest {
  /** Its version, as `INFO server` gives it. */
  readonly version: string;
  /** A connected client. Contenders get equal options, or the comparison is none. */
  connect(options?: { readonly enableAutoPipelining?: boolean }): Promise<Redis>;
  /** CPU time the server has used since it started, user and system, for whomever. */
  cpuUs(): Promise<number>;
  close(): Promise<void>;
}

/** Opens the server at `url`; one connection of its own serves for what is asked about it. */
export async function openRedis(url: string): Promise<RedisUnderTest> {
  const connect: RedisUnderTest['connect'] = async (options = {}) => {
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
    version: await field('server', 'redis_version'),
    connect,
    async cpuUs() {
      const user = Number(await field('cpu', 'used_cpu_user'));
      const system = Number(await field('cpu', 'used_cpu_sys'));
      return (user + system) * 1e6;
    },
    async close() {
      await observer.quit();
    },
  };
}

import { parseRedisUrl, type RedisHandle } from './address.js';
import { startRedis } from './start-redis.js';

/** Set by the global setup for every process of a test run: the server they share. */
export const SHARED_URL = 'RL_TEST_REDIS_URL';

let ownServer: Promise<RedisHandle> | undefined;

/**
 * The server all tests share: use random key prefixes, never stop, pause or flush it. Taken from
 * `RL_TEST_REDIS_URL`, then `REDIS_URL`; where neither is set this process starts one, once, which
 * dies with it.
 */
export async function sharedRedis(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<RedisHandle> {
  for (const name of [SHARED_URL, 'REDIS_URL']) {
    const url = env[name];
    if (url) return parseRedisUrl(url, name);
  }
  ownServer ??= startRedis().then(({ url, connection }) => ({ url, connection }));
  return ownServer;
}

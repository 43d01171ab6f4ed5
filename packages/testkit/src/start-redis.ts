import { findStartableRedis } from './find-redis.js';
import { freePort, onFreePort } from './free-port.js';
import { RedisContainer } from './redis-container.js';
import { RedisProcess } from './redis-process.js';
import type { RedisServer } from './redis-server.js';

export interface StartRedisOptions {
  /**
   * `port` (default): a free port of 127.0.0.1. `socket`: a unix socket; a container, where that
   * is all there is, gets a port nevertheless, so use the server's `connection`.
   */
  readonly listen?: 'port' | 'socket';
  /** Further arguments for `redis-server`: `['--maxmemory', '10mb']`. Empty by default. */
  readonly args?: readonly string[];
}

/**
 * Starts a Redis for a test that stops, pauses or flushes its server; `close()` it afterwards.
 * Nothing persists. It dies with this process if that is killed first. Ready when this resolves;
 * fails with what the server printed.
 */
export async function startRedis(
  options: StartRedisOptions = {},
  pickPort: () => Promise<number> = freePort,
): Promise<RedisServer> {
  const { listen = 'port', args = [] } = options;
  if (listen !== 'port' && listen !== 'socket') {
    throw new TypeError(`listen must be 'port' or 'socket', not ${JSON.stringify(listen)}`);
  }
  const found = await findStartableRedis();
  if (found.kind === 'container') {
    return onFreePort((port) => RedisContainer.start(port, args), pickPort);
  }
  if (listen === 'socket') return RedisProcess.start(found.path, {}, args);
  return onFreePort((port) => RedisProcess.start(found.path, { port }, args), pickPort);
}

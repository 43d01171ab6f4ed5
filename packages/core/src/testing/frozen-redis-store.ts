import type { RedisClient } from '../store/redis/client.js';
import { RedisStore, type RedisStoreOptions } from '../store/redis/redis-store.js';
import type { Clock } from '../time/clock.js';
import { checks, heartbeat, plainChecks, region } from './frozen-scripts.generated.js';

/**
 * A Redis store for tests whose scripts take the time from `clock` in place of the server's, as do
 * limiters on it. All else is the real store. Keys still expire by the server's own clock.
 */
export function frozenRedisStore(
  client: RedisClient,
  clock: Clock,
  options?: RedisStoreOptions,
): RedisStore {
  return new RedisStore(client, options, {
    scripts: { plainChecks, checks, heartbeat, region },
    extraArgs: () => [clock.nowMs()],
    clock,
  });
}

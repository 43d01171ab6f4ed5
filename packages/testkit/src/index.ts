export type { RedisConnection, RedisHandle } from './address.js';
export { type FaultProxy, type ProxyDelay, startFaultProxy } from './fault-proxy.js';
export { type FoundRedis, findRedis, type RedisProbes } from './find-redis.js';
export type { Traffic } from './proxied-connection.js';
export { randomPrefix } from './random.js';
export type { RedisServer } from './redis-server.js';
export { sharedRedis } from './shared-redis.js';
export { type StartRedisOptions, startRedis } from './start-redis.js';

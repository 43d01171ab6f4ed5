export type { RedisConnection, RedisHandle } from './address.js';
export { type FoundRedis, findRedis, type RedisProbes } from './find-redis.js';
export { randomPrefix } from './random.js';
export type { RedisServer } from './redis-server.js';
export { sharedRedis } from './shared-redis.js';
export { type StartRedisOptions, startRedis } from './start-redis.js';

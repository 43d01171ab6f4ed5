export { type RegionalStore, regionalStore } from './region/regional-store.js';
export type { RegionalStoreOptions } from './region/terms.js';
export type { RedisClient } from './store/redis/client.js';
export type { DurabilityOptions } from './store/redis/durability.js';
export { type RedisStore, type RedisStoreOptions, redisStore } from './store/redis/redis-store.js';

export type { RedisClient } from './store/redis/client.js';
export { type RedisStore, type RedisStoreOptions, redisStore } from './store/redis/redis-store.js';

export { frozenRedisStore } from './testing/frozen-redis-store.js';
export { ManualClock } from './testing/manual-clock.js';

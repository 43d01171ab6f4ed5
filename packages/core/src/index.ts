export type { Allowed, Decision, Denied, Origin } from './decision/decision.js';
export { type ErrorCode, isRateLimitError, type RateLimitError } from './errors.js';
export {
  type ConsumeOptions,
  createLimiter,
  type Keys,
  type Limiter,
  type LimiterOptions,
} from './limiter/limiter.js';
export { ALGORITHMS, type Algorithm, type Policy, type PolicyOptions } from './policy/policy.js';
export {
  type MemoryStore,
  type MemoryStoreOptions,
  memoryStore,
} from './store/memory/memory-store.js';
export type { Store } from './store/store.js';
export type { Clock } from './time/clock.js';

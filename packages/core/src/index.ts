export type { Allowed, Decision, Denied, Origin } from './decision/decision.js';
export { type ErrorCode, isRateLimitError, type RateLimitError } from './errors.js';
export { type AddressKeyOptions, addressKey } from './key/address-key.js';
export { combineKeys, type KeyPart } from './key/combine-keys.js';
export { secretKey } from './key/secret-key.js';
export {
  type ConsumeOptions,
  createLimiter,
  type Keys,
  type Limiter,
  type LimiterOptions,
  type PerPolicy,
  type PolicyChanges,
  type RefundOptions,
  type SettleOptions,
} from './limiter/limiter.js';
export type { PolicyChange } from './limiter/policy-book.js';
export type { LeaseOptions, LeaseTerms } from './policy/lease-terms.js';
export {
  ALGORITHMS,
  type Algorithm,
  MAX_LOG_LIMIT,
  type Policy,
  type PolicyOptions,
} from './policy/policy.js';
export {
  type MemoryStore,
  type MemoryStoreOptions,
  memoryStore,
} from './store/memory/memory-store.js';
export type { Charge, Claim, Grant, LeaseReport, Store } from './store/store.js';
export type { Clock } from './time/clock.js';

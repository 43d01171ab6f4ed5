export type { Allowed, Decision, Denied, Origin, WithoutStore } from './decision/decision.js';
export {
  type ErrorCode,
  isRateLimitError,
  type RateLimitError,
  type StoreFault,
} from './errors.js';
export { type DnsReplicasOptions, dnsReplicas } from './fallback/dns-replicas.js';
export type { StoreEvent } from './fallback/events.js';
export type { FallbackOptions, Replicas } from './fallback/options.js';
export { type AddressKeyOptions, addressKey } from './key/address-key.js';
export { combineKeys, type KeyPart } from './key/combine-keys.js';
export { secretKey } from './key/secret-key.js';
export type { Explanation, PolicyExplanation } from './limiter/explanation.js';
export {
  type ConsumeOptions,
  createLimiter,
  type Keys,
  type Limiter,
  type LimiterOptions,
  type MetricsOptions,
  type PerPolicy,
  type PolicyChanges,
  type RefundOptions,
  type SettleOptions,
  type StoreHealth,
  type TopOptions,
} from './limiter/limiter.js';
export type { PolicyChange } from './limiter/policy-book.js';
export type {
  CheckContext,
  DecisionMessage,
  StoreAnswerMessage,
} from './metrics/channels.js';
export type { HistogramReading } from './metrics/histogram.js';
export {
  type DecisionCount,
  type LeaseMetrics,
  type LimiterMetrics,
  OUTCOMES,
  type Outcome,
} from './metrics/limiter-metrics.js';
export type { StoreMetrics } from './metrics/store-metrics.js';
export type { DenialNote, TopKey, TopKeys } from './metrics/top-keys.js';
export type { FallbackMode } from './policy/fallback-mode.js';
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
export type { Charge, Claim, Examination, Grant, LeaseReport, Store } from './store/store.js';
export type { Clock } from './time/clock.js';

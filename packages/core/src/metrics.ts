export type { StoreState } from './fallback/breaker.js';
export { LATENCY_BOUNDS_S } from './metrics/store-watcher.js';
export { LimiterSum, limitersOf, type MeteredLimiter } from './publishing/limiter-sum.js';
export type { MetricsSum } from './publishing/metrics-sum.js';

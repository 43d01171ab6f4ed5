export { Gate, type Verdict } from './http/gate.js';
export { appendToField, type Header } from './http/headers.js';
export type {
  LimiterRateLimitOptions,
  PolicyRateLimitOptions,
  RateLimitOptions,
} from './http/options.js';
export type { Refusal } from './http/problem.js';

export type { ProxyTrust, ProxyView } from './http/client-key.js';
export { endpointName } from './http/endpoint.js';
export { Gate, type Verdict } from './http/gate.js';
export { appendToField, type Header } from './http/headers.js';
export type { MissingKey, NoAddress } from './http/missing-key.js';
export type {
  LimiterRateLimitOptions,
  PolicyRateLimitOptions,
  RateLimitOptions,
} from './http/options.js';
export type { Refusal } from './http/problem.js';
export type { RequestKeys } from './http/request-keys.js';

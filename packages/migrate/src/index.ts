export type {
  ClientCount,
  ExpressGivenPolicy,
  ExpressPolicyInPlace,
  ExpressRateLimitStore,
  ExpressRateLimitStoreOptions,
  MiddlewareTerms,
} from './express-contract.js';
export { toExpressRateLimitStore } from './express-rate-limit.js';
export {
  type FastifyCallback,
  type FastifyCount,
  type FastifyGivenPolicy,
  type FastifyPolicyInPlace,
  type FastifyRateLimitStore,
  type FastifyRateLimitStoreClass,
  type FastifyRateLimitStoreOptions,
  toFastifyRateLimitStore,
} from './fastify-rate-limit.js';
export {
  type NestGivenPolicy,
  type NestPolicyInPlace,
  type NestThrottlerStorage,
  type NestThrottlerStorageOptions,
  type ThrottlerRecord,
  toNestThrottlerStorage,
} from './nest-throttler.js';
export type { GivenPolicy, PolicyInPlace } from './options.js';

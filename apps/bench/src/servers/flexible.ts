import type { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';

/** The headers that its documentation gives, but for Retry-After, which is for denials. */
export function headersOf(
  { points }: RateLimiterRedis,
  { remainingPoints, msBeforeNext }: RateLimiterRes,
): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(points),
    'X-RateLimit-Remaining': String(remainingPoints),
    'X-RateLimit-Reset': String(Math.ceil((Date.now() + msBeforeNext) / 1000)),
  };
}

/** What it rejects with where it denies; undefined for an error, as where Redis is lost. */
export function asRejection(reason: unknown): RateLimiterRes | undefined {
  return reason instanceof Error ? undefined : (reason as RateLimiterRes);
}

import type { Decision } from '../../decision/decision.js';
import type { HeaderFormat, Told } from './header.js';
import { resetAtS, resetS } from './reset.js';

/**
 * Three fields about the strictest policy, never standardized, in the variants that clients know.
 * @param prefix `X-RateLimit` for `X-RateLimit-Limit`
 */
function legacy(prefix: string, reset: (decision: Decision) => number): HeaderFormat {
  const names = [`${prefix}-Limit`, `${prefix}-Remaining`, `${prefix}-Reset`] as const;
  return {
    names,
    isList: false,
    write(told) {
      const { decision } = told[0] as Told;
      return [
        [names[0], `${decision.limit}`],
        [names[1], `${decision.remaining}`],
        [names[2], `${reset(decision)}`],
      ];
    },
  };
}

/** With the instant of the reset, in seconds since 1970: GitHub, express-rate-limit, koa-ratelimit. */
export const LEGACY_EPOCH: HeaderFormat = legacy('X-RateLimit', resetAtS);

/** With the seconds until then: Fastify, NestJS, Envoy. */
export const LEGACY_DELTA: HeaderFormat = legacy('X-RateLimit', resetS);

/** `X-Rate-Limit-Limit`, with the instant: X, before that Twitter. */
export const X_RATE_LIMIT: HeaderFormat = legacy('X-Rate-Limit', resetAtS);

import { quotaPolicies } from './draft-7.js';
import type { HeaderFormat, Told } from './header.js';
import { resetS } from './reset.js';
import { sfInteger } from './structured-field.js';

/**
 * The fields of draft-ietf-httpapi-ratelimit-headers-06: `RateLimit-Limit: 100`,
 * `RateLimit-Remaining: 42`, `RateLimit-Reset: 17` of the strictest policy, and all in
 * `RateLimit-Policy: 100;w=60`, which the draft does not require.
 *
 * @param withPolicy false where another format writes RateLimit-Policy in a syntax of its own
 */
export function draft6(withPolicy: boolean): HeaderFormat {
  const own = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const;
  return {
    names: withPolicy ? ['RateLimit-Policy', ...own] : own,
    isList: false,
    write(told) {
      const { decision } = told[0] as Told;
      return [
        ...(withPolicy ? quotaPolicies(told) : []),
        [own[0], `${sfInteger(decision.limit)}`],
        [own[1], `${sfInteger(decision.remaining)}`],
        [own[2], `${sfInteger(resetS(decision))}`],
      ];
    },
  };
}

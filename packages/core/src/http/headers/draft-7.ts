import type { Header, HeaderFormat, Told } from './header.js';
import { resetS } from './reset.js';
import { sfInteger } from './structured-field.js';

/**
 * The fields of draft-ietf-httpapi-ratelimit-headers-07: a Dictionary about the strictest policy,
 * `RateLimit: limit=100, remaining=42, reset=17`, and a List of all, `RateLimit-Policy: 100;w=60`.
 */
export const DRAFT_7: HeaderFormat = {
  names: ['RateLimit-Policy', 'RateLimit'],
  isList: false,
  write(told) {
    const { decision } = told[0] as Told;
    const { limit, remaining } = decision;
    const state = [
      `limit=${sfInteger(limit)}`,
      `remaining=${sfInteger(remaining)}`,
      `reset=${sfInteger(resetS(decision))}`,
    ].join(', ');
    return [...quotaPolicies(told), ['RateLimit', state]];
  },
};

/**
 * `RateLimit-Policy: 100;w=60, 1000;w=3600`, as drafts 6 and 7 have it. A window that is not of whole
 * seconds cannot be told, and neither can two policies with one quota, since quotas are their names:
 * the strictest is told then.
 */
export function quotaPolicies(told: readonly Told[]): readonly Header[] {
  const members = new Map<number, string>();
  for (const { decision } of told) {
    const { limit, windowMs } = decision;
    if (windowMs % 1000 !== 0 || members.has(limit)) continue;
    members.set(limit, `${sfInteger(limit)};w=${sfInteger(windowMs / 1000)}`);
  }
  return members.size === 0 ? [] : [['RateLimit-Policy', [...members.values()].join(', ')]];
}

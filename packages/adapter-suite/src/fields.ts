import { parseList } from 'structured-headers';
import type { Answer } from './client.js';

/** A member of a RateLimit or RateLimit-Policy field. */
export interface Member {
  readonly name: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** How often a header came over the wire. */
export function countLines(answer: Answer, name: string): number {
  const names = answer.rawHeaders.filter((_, i) => i % 2 === 0);
  return names.filter((found) => found.toLowerCase() === name.toLowerCase()).length;
}

/**
 * A field as draft-ietf-httpapi-ratelimit-headers-11 defines it: a List of Strings with Integers as
 * parameters. Parsed by somebody else's parser of RFC 9651.
 * @throws Error where the field is absent or is not that
 */
export function parseField(answer: Answer, name: 'RateLimit' | 'RateLimit-Policy'): Member[] {
  const value = answer.headers[name.toLowerCase()];
  if (typeof value !== 'string') throw new Error(`there is no ${name}`);
  return parseList(value).map(([item, parameters]) => {
    if (typeof item !== 'string') throw new Error(`${name}: a member is not a String: ${value}`);
    for (const parameter of parameters.values()) {
      // The parser reads `1.0` as 1.
      if (Number.isInteger(parameter) && !/=-?\d+\./.test(value)) continue;
      throw new Error(`${name}: a parameter is not an Integer: ${value}`);
    }
    return { name: item, parameters: Object.fromEntries(parameters) };
  });
}

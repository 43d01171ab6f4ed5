import type { Answer } from '@rl/adapter-suite';

/** What a client can see of a rate limit in an answer. */
export interface Told {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** The status, the body, and the headers that have to do with limits. */
export function toldBy({ status, headers, body }: Answer): Told {
  const own = Object.entries(headers).filter(([name]) => /rate-?limit|retry-after/.test(name));
  return { status, headers: Object.fromEntries(own), body };
}

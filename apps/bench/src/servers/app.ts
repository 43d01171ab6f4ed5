import type { Limiter } from '@rl/core';

/** Of one policy, `api`, by which each client has a quota. */
export type ApiLimiter = Limiter<'api'>;

/** What every app answers with to `GET /`. */
export const DOCUMENT = { hello: 'world' };

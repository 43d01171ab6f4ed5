import type { AppName, QuotaOrder } from '../servers/order.js';

export const FRAMEWORKS: readonly AppName[] = ['express', 'fastify', 'koa'];

/** The app without a limiter. */
export const BARE = 'bare';

/** Our adapter in the memory of the process: one policy in place, all else the defaults. */
export const OURS_LOCAL = 'rlLocal';

/** The same on Redis, which every request asks: no lease. */
export const OURS_EXACT = 'rlExact';

/** One server of a framework. */
export interface HttpContender {
  /** Its name in the JSON. */
  readonly name: string;
  /** Undefined for the bare app. */
  readonly limits: Pick<QuotaOrder, 'by' | 'counts'> | undefined;
  /** One of the others that, like ours, ask Redis for every request. */
  readonly exactPeer: boolean;
}

/** The limiter most used with each framework. */
const USUAL: Readonly<Record<AppName, string>> = {
  express: 'expressRateLimit',
  fastify: 'fastifyRateLimit',
  koa: 'koaRatelimit',
};

/** All servers of a framework that are measured in the same rounds. */
export function contendersOf(app: AppName): readonly HttpContender[] {
  const usual = USUAL[app];
  const local = (name: string, by: QuotaOrder['by']): HttpContender => ({
    name,
    limits: { by, counts: 'memory' },
    exactPeer: false,
  });
  const exact = (name: string, by: QuotaOrder['by']): HttpContender => ({
    name,
    limits: { by, counts: 'redis' },
    exactPeer: by !== 'rl',
  });
  return [
    { name: BARE, limits: undefined, exactPeer: false },
    local(OURS_LOCAL, 'rl'),
    local(`${usual}Local`, 'usual'),
    exact(OURS_EXACT, 'rl'),
    exact(`${usual}Exact`, 'usual'),
    exact('rateLimiterFlexibleExact', 'rateLimiterFlexible'),
  ];
}

/** The framework of an app that answers `GET /` with a small JSON document. */
export type AppName = 'express' | 'fastify' | 'koa';

/** What a server limits its clients to, by the header that names them. */
export interface QuotaOrder {
  /**
   * `rl`: our adapter. `usual`: the limiter most used with the framework, which are express-rate-limit,
   * @fastify/rate-limit and koa-ratelimit. `rateLimiterFlexible`: a middleware around that, on Redis only.
   */
  readonly by: 'rl' | 'usual' | 'rateLimiterFlexible';
  /**
   * In this process's memory, or on Redis for each request, under one policy given in place. `lease`:
   * on Redis, with a limiter of our own whose policy leases permits.
   */
  readonly counts: 'memory' | 'redis' | 'lease';
  /** Requests of a client per window. A full bucket holds as many. */
  readonly limit: number;
  readonly windowMs: number;
  readonly redisUrl: string;
  readonly prefix: string;
}

/** What the process of a server is told, as the first message to it. */
export interface ServerOrder {
  readonly app: AppName;
  /** Undefined for the bare app. */
  readonly quota: QuotaOrder | undefined;
}

/** Its answers: where it listens, and from then on to any message the CPU time it has used. */
export type ServerMessage = { readonly port: number } | { readonly cpuUs: number };

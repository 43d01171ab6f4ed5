import type { Absent, GivenPolicy, PolicyInPlace } from './options.js';

/** A policy in place, whose limit and window are the middleware's unless they are said here. */
export interface ExpressPolicyInPlace extends PolicyInPlace, Absent<GivenPolicy> {
  /**
   * Permits per window. Default: the middleware's `limit`. Needed where that is a function: then the
   * largest that it gives; and for express-slow-down: up to how many the delay grows.
   */
  limit?: number | undefined;
  /** Default: the middleware's `windowMs`. */
  window?: number | string | undefined;
}

/** A policy of a limiter, with the middleware's own `limit` and `windowMs`. */
export interface ExpressGivenPolicy
  extends GivenPolicy,
    Absent<Omit<ExpressPolicyInPlace, keyof GivenPolicy>> {}

export type ExpressRateLimitStoreOptions = ExpressPolicyInPlace | ExpressGivenPolicy;

/** What the middleware tells of itself: part of its options. */
export interface MiddlewareTerms {
  windowMs: number;
  /** A number, or a function of the request. */
  limit: unknown;
  skipFailedRequests?: boolean;
  skipSuccessfulRequests?: boolean;
}

/** What the middleware is told of a client. */
export interface ClientCount {
  /** Above the middleware's limit exactly where the request is denied. */
  totalHits: number;
  resetTime: Date;
}

/** A `Store` of express-rate-limit, hono-rate-limiter and express-slow-down. */
export interface ExpressRateLimitStore {
  /** Called by the middleware when it is made. */
  init(terms: MiddlewareTerms): void;
  /** Decides and charges a request, at once where that can be. Rejects on a key that cannot be used. */
  increment(key: string): ClientCount | Promise<ClientCount>;
  /** Puts back what a request was charged; nothing where it was denied. */
  decrement(key: string): Promise<void>;
  /** What is there, charging nothing; undefined where nothing is spent. */
  get(key: string): Promise<ClientCount | undefined>;
  /** Forgets what was charged. Where the store does not answer, it becomes a process warning. */
  resetKey(key: string): Promise<void>;
  /** Forgets all clients, where they are counted in this process; rejects on a store that was given. */
  resetAll(): Promise<void>;
  /** Ends the limiter, where that was made here; a store that was given stays open. */
  shutdown(): Promise<void>;
  /** True where clients are counted in this process alone. */
  readonly localKeys: boolean;
  /** Name of the policy: two of these may count one key under two names. */
  readonly prefix: string;
}

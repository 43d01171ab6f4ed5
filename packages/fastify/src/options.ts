import type {
  ContextRateLimitOptions,
  RateLimitOptions as CoreOptions,
  RouteRateLimitOptions as CoreRouteOptions,
} from '@rl/core/http';
import type { FastifyRequest } from 'fastify';
import type { Hook } from './gate-hook.js';

/** One limit: a policy in place, or a limiter and the keys of a request. */
export type RateLimitOptions = CoreOptions<FastifyRequest>;

/** What the plugin takes: a limit, or with `global: false` only what routes inherit. */
export type PluginOptions = ContextRateLimitOptions<FastifyRequest> & {
  /** The hook in which requests are charged. Default `"onRequest"`, before the body is read. */
  hook?: Hook | undefined;
};

/** The limit of one route, in its `config.rl`. */
export type RouteRateLimitOptions = CoreRouteOptions<FastifyRequest, Hook>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * A limit of this route, beside those of its contexts or by `override: true` in their place; false
     * has it left alone by those. It needs the plugin in a context around it.
     */
    rl?: RouteRateLimitOptions | false | undefined;
  }
}

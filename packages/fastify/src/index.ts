import { Gate } from '@rl/core/http';
import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';
import { type GateHook, gateHook } from './gate-hook.js';
import type { PluginOptions, RateLimitOptions } from './options.js';
import { limitContext } from './plugin.js';
import { readerOf } from './reader.js';

export { clientIp, content } from '@rl/core/http';
export { endpointOf } from './endpoint.js';
export type { GateHook, Hook } from './gate-hook.js';
export type { PluginOptions, RateLimitOptions, RouteRateLimitOptions } from './options.js';
export { type StatusPageOptions, statusPage } from './status-page.js';

/**
 * Plugin that charges each request to the network of `request.ip`, or to what `key` or `keys` says,
 * and answers 429 where the quota is spent, or 503 where `fallback` says so while the store cannot
 * answer: nothing after it runs then. Where a function of the options fails, the error goes to the
 * error handler.
 *
 * It is an `onRequest` hook, or that of the option `hook`, of the context it is registered in, with
 * the contexts within: routes of the parent are not limited. In the root context that includes
 * requests to unknown paths. A route has a limit of its own by its `config.rl`, which is charged last.
 *
 * A response that others have sent meanwhile, such as a timeout, is left alone and the request goes
 * no further.
 */
export const rateLimit: FastifyPluginAsync<PluginOptions> = plugin(limitContext, {
  name: '@rl/fastify',
  fastify: '5.x',
});

/** What is needed of an app: of whichever server. */
interface App {
  readonly version: string;
  addHook(name: 'onClose', hook: () => Promise<void>): unknown;
}

/**
 * The same as a hook by itself, where the plugin need not be registered: for the `preHandler` of a
 * not-found handler, for one route, for `addHook`. It knows of no `config.rl`. Its limiter is closed
 * with the app.
 *
 * @throws TypeError or RangeError that names the option and shows the value
 */
export function rateLimitHook(app: App, options: RateLimitOptions): GateHook {
  const gate = new Gate<FastifyRequest>(options, readerOf(app));
  app.addHook('onClose', () => gate.close());
  return gateHook(gate);
}

import { endpointName, RouteGates } from '@rl/core/http';
import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify';
import { endpointOf } from './endpoint.js';
import { charge, type GateHook, gateHook, HOOKS, type Next } from './gate-hook.js';
import type { PluginOptions } from './options.js';
import { readerOf } from './reader.js';

/**
 * On a context: what its routes go by, which is the plugin registered last, in it or in the nearest
 * context around it. Registered symbols: the ESM and the CJS build may be in one app.
 */
const NEAREST: unique symbol = Symbol.for('@rl/fastify/nearest') as never;
type Marked = { readonly [NEAREST]?: unknown };
/** In the config of a route: it has a hook for its limit. */
const HOOKED: unique symbol = Symbol.for('@rl/fastify/hooked') as never;

/** In a promise, so that options that cannot be used reject; the hooks themselves are not. */
export async function limitContext(app: FastifyInstance, options: PluginOptions): Promise<void> {
  const routing = { app: app.server, where: 'config.rl', hooks: HOOKS } as const;
  const gates = new RouteGates(options, readerOf(app), routing);
  Object.assign(app, { [NEAREST]: gates });
  const isNearest = (at: object): boolean => (at as Marked)[NEAREST] === gates;
  app.addHook('onClose', () => gates.close());

  app.addHook('onRoute', function (route) {
    const endpoint = endpointName([route.method].flat(), route.url);
    const found = isNearest(this) ? gates.ofRoute(endpoint, route.config?.rl) : undefined;
    if (found === undefined) return;
    const { gate, hook } = found;
    // Behind the route's own, whose findings its key may need.
    Object.assign(route, { [hook]: [route[hook] ?? [], gateHook(gate)].flat() });
    route.config = Object.assign({}, route.config, { [HOOKED]: true });
  });

  /** The gate of a route that was declared before the plugin was there, and so has no hook of its own. */
  const missed = (request: FastifyRequest, config: FastifyContextConfig) => {
    if (HOOKED in config || !isNearest(request.server)) return undefined;
    return gates.ofRoute(endpointOf(request), config.rl, [gates.hook])?.gate;
  };
  const hook: GateHook = (request, reply, next, last = next) => {
    const goOn = last as Next;
    // An object made anew each time it is read.
    const { config } = request.routeOptions;
    if (config?.rl === undefined) return charge(gates.ofContext(undefined), request, reply, goOn);
    charge(gates.ofContext(config.rl), request, reply, (error) => {
      if (error === undefined) charge(missed(request, config), request, reply, goOn);
      else goOn(error);
    });
  };
  app.addHook(gates.hook as 'onRequest', hook);
}

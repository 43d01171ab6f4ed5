import { endpointName } from '@rl/core/http';
import type { Context } from 'koa';

/** What @koa/router, from 12, leaves on a context. */
interface Routed {
  /** All that the path matched; a middleware of a router has no methods. */
  readonly matched?: readonly { readonly path: unknown; readonly methods: readonly string[] }[];
  /** The path of the one that runs now. */
  readonly routerPath?: unknown;
}

/**
 * The route of @koa/router that the request was matched to, as part of a key: its methods and its
 * pattern, `GET /verify/:code`, whatever the client wrote for it. Known in the middleware of a
 * router and its routes; undefined before the router, without one, and where no route was found.
 */
export function endpointOf(ctx: Context): string | undefined {
  const { matched = [], routerPath } = ctx as Routed;
  const routes = matched.filter(({ methods }) => methods.includes(ctx.method));
  const route = routes.find(({ path }) => path === routerPath) ?? routes.at(-1);
  return route && endpointName(route.methods, String(route.path));
}

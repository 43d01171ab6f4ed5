import { endpointName } from '@rl/core/http';
import type { Request } from 'express';

/** One entry of a router: a route, or what is mounted at a path. */
interface Layer {
  readonly route?: Route;
  readonly handle?: { readonly stack?: readonly Layer[] };
  /** The path it was declared with, in Express 5. */
  readonly rawPath?: unknown;
  /** What that path was made into, in Express 4. */
  readonly regexp?: RegExp & { readonly fast_slash?: boolean };
}

interface Route {
  readonly path: unknown;
  /** In lower case; `_all` where it is for all. */
  readonly methods: { readonly [method: string]: boolean };
}

const PATTERNS = new WeakMap<Route, string | undefined>();

/**
 * The route that the request was matched to, as part of a key: its method and its pattern,
 * `GET /verify/:code`, whatever the client wrote for it. Known only to what runs within a route:
 * `app.post('/lang', rateLimit(options), handler)`. Undefined before it, and where the router of the
 * route is not mounted by `use`, so that its place cannot be told.
 *
 * Not made of `req.baseUrl`, which is what the client wrote: of a router at `/users/:id` every id.
 */
export function endpointOf(req: Request): string | undefined {
  const route: Route | undefined = req.route;
  if (route === undefined) return undefined;
  if (!PATTERNS.has(route)) PATTERNS.set(route, patternOf(req, route));
  const pattern = PATTERNS.get(route);
  if (pattern === undefined) return undefined;
  const declared = Object.keys(route.methods).map((method) => (method === '_all' ? '*' : method));
  return endpointName(declared, pattern, [req.method]);
}

/** Of the whole path: where the app is mounted, its routers, the route. */
function patternOf({ app }: Request, route: Route): string | undefined {
  // In this order: Express 4 throws where `app.router` is read.
  const { _router = app.router } = app as unknown as { _router?: { stack: readonly Layer[] } };
  const mount = mountOf((_router as { stack: readonly Layer[] }).stack, route);
  if (mount === undefined) return undefined;
  return `${app.path()}${mount}${route.path}`.replace(/\/{2,}/g, '/');
}

function mountOf(stack: readonly Layer[], route: Route): string | undefined {
  for (const layer of stack) {
    if (layer.route === route) return '';
    const inner = layer.handle?.stack && mountOf(layer.handle.stack, route);
    const own = inner === undefined ? undefined : declaredPath(layer);
    if (own !== undefined) return `${own}${inner}`;
  }
  return undefined;
}

function declaredPath({ rawPath, regexp }: Layer): string | undefined {
  if (rawPath !== undefined) return String(rawPath);
  if (regexp === undefined) return undefined;
  // Its source, less what every path becomes: `^\/users\/?(?=\/|$)` is `/users`.
  return regexp.fast_slash
    ? '/'
    : regexp.source.replace(/^\^|\\\/\?\(\?=\\\/\|\$\)$|\\(?=\/)/g, '');
}

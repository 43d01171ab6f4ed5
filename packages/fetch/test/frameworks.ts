import type { IncomingMessage } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { type AnyOptions, type Framework, serve } from '@rl/adapter-suite';
import { type DeniedError, nodeReader } from '@rl/core/http';
import { type Call, type RateLimitOptions, withRateLimit } from '../src/index.js';

type Handler = (request: Request, env: HttpBindings) => Response | Promise<Response>;

/** Handlers of Requests, one around the other, behind the Node server that Hono has. */
export const FETCH: Framework = {
  name: 'Fetch',
  // A handler gives its response back: nobody else can send one before it does.
  lacks: ['routes', 'proxies', 'other responses'],
  async start(plan, listen) {
    const { limiters, trust = 'nobody', routes = [], onArrival, onHandled, onError } = plan;
    const ofRoutes = new Map<string, Handler>(
      routes.map(({ path, limiter }) => {
        const ok = (): Response => new Response('ok');
        const options = { ...ofNode(limiter), addressOf: peerOf };
        return [path, withRateLimit<[HttpBindings]>(options, ok)];
      }),
    );
    let handler: Handler = async (request, env) => {
      const { pathname } = new URL(request.url);
      if (pathname !== '/') {
        return ofRoutes.get(pathname)?.(request, env) ?? new Response(null, { status: 404 });
      }
      onHandled?.();
      const status = (await plan.statusOf?.(env.incoming)) ?? 200;
      return new Response(status === 204 ? null : 'ok', { status });
    };
    const addressOf = (_: Request, { incoming }: HttpBindings): string | undefined => {
      const forwarded = incoming.headers['x-forwarded-for'];
      if (trust === 'nobody' || forwarded === undefined) return incoming.socket.remoteAddress;
      return String(forwarded)
        .split(',')
        .at(trust === 'one' ? -1 : 0)
        ?.trim();
    };
    for (const options of [...limiters].reverse()) {
      // With `trustedProxies` it is where the way to the client begins.
      const isPeer = options?.trustedProxies !== undefined;
      handler = withRateLimit(
        { ...ofNode(options), addressOf: isPeer ? peerOf : addressOf },
        handler,
      );
    }
    const listener = getRequestListener(
      async (request, env) => {
        onArrival?.(neverLate, neverLate);
        const response = await handler(request, env as HttpBindings);
        response.headers.set('access-control-allow-origin', '*');
        return response;
      },
      {
        overrideGlobalObjects: false,
        errorHandler: (error) => {
          onError?.(error);
          const { status = 500, headers = {} } = error as Partial<DeniedError>;
          return new Response(plan.handlesErrors ? 'custom' : null, { status, headers });
        },
      },
    );
    return serve(listener, listen);
  },
};

/** As of Node's own requests: `unix` while a Unix socket lives. */
function peerOf(_: Request, { incoming }: HttpBindings): string | undefined {
  return nodeReader<IncomingMessage>(
    (own) => own,
    () => undefined,
  ).peerOf(incoming);
}

function neverLate(): never {
  throw new Error('no response can be sent by others');
}

/** Options whose functions are handed Node's request in the place of a call. */
function ofNode(options: AnyOptions): RateLimitOptions<HttpBindings> {
  const given = Object.entries(options).map(([name, value]) => {
    const isOfRequest = typeof value === 'function' && name !== 'headers';
    return [name, isOfRequest ? (...args: unknown[]) => value(...args.map(nodeOf)) : value];
  });
  return Object.fromEntries(given) as RateLimitOptions<HttpBindings>;
}

function nodeOf(argument: unknown): unknown {
  const call = argument as Partial<Call<{ incoming?: IncomingMessage }>> | undefined;
  return call?.context?.incoming ?? argument;
}

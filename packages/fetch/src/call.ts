import type { RateLimitOptions as CoreOptions, RequestReader } from '@rl/core/http';

/** A request with what its framework gives beside it: Hono's context, a Next.js route's `params`. */
export interface Call<Context = undefined> {
  readonly request: Request;
  readonly context: Context;
}

type OneOf<Options, Context> = Options extends unknown
  ? Options & {
      /**
       * The client's address, which a Request does not have: the peer of the connection, or what a proxy
       * of yours has written. To be given where neither `key` nor `keys` is.
       */
      addressOf?: ((request: Request, context: Context) => string | undefined) | undefined;
    }
  : never;

/** What `rateLimit` takes: one policy in place, or a limiter and the keys of a request. */
export type RateLimitOptions<Context = undefined> = OneOf<CoreOptions<Call<Context>>, Context>;

/** @param addressOf undefined: no request has an address */
export function readerOf<Context>(
  addressOf: RateLimitOptions<Context>['addressOf'],
): RequestReader<Call<Context>> {
  const address = ({ request, context }: Call<Context>) => addressOf?.(request, context);
  return {
    addressOf: address,
    peerOf: address,
    methodOf: ({ request }) => request.method,
    headerOf: ({ request }, name) => request.headers.get(name) ?? undefined,
    identityOf: ({ request }) => request,
  };
}

import { UNIX_PEER } from '../key/networks.js';
import type { ProxyView } from './client-key.js';

/** How an adapter reads its framework's requests. */
export interface RequestReader<Request> {
  /** The client's address by the framework's own view: the default partition key. */
  addressOf(request: Request): string | undefined;
  /** In capitals. */
  methodOf(request: Request): string;
  /** A header by its name in small letters; a list where it came on several lines and was not joined. */
  headerOf(request: Request, name: string): string | readonly string[] | undefined;
  /** The address of the other end of the connection; `unix` on a Unix socket; undefined where it is not known. */
  peerOf(request: Request): string | undefined;
  /**
   * What two requests share that are one: limiters that meet it tell of the strictest, and each charges
   * it once. Default: the request itself, which must be the same object to all limiters then.
   */
  identityOf?(request: Request): object;
  /** Undefined: no warnings about proxies. */
  readonly proxies?: ProxyView<Request> | undefined;
}

/** What is read of Node's own request: `http.IncomingMessage` and that of `http2` have it. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly socket: NodeSocket | null | undefined;
}

interface NodeSocket {
  readonly remoteAddress?: string | undefined;
  readonly localAddress?: string | undefined;
  readonly destroyed?: boolean;
}

/**
 * The reader of a framework that stands on Node's requests.
 *
 * @param nodeRequestOf the request behind the framework's
 * @param addressOf the framework's own view of the client's address
 */
export function nodeReader<Request>(
  nodeRequestOf: (request: Request) => NodeRequest,
  addressOf: (request: Request) => string | undefined,
  proxies?: ProxyView<Request>,
): RequestReader<Request> {
  return {
    addressOf,
    methodOf: (request) => nodeRequestOf(request).method ?? '',
    headerOf: (request, name) => nodeRequestOf(request).headers[name],
    peerOf: (request) => peerOfSocket(nodeRequestOf(request).socket),
    proxies,
  };
}

/**
 * A connection over TCP that was reset has no peer any more either. Its client may have been anybody,
 * and must not pass for the proxy on the Unix socket: until it is destroyed, it has an address here.
 */
function peerOfSocket(socket: NodeSocket | null | undefined): string | undefined {
  const address = socket?.remoteAddress;
  if (address) return address;
  const isUnix = socket?.destroyed === false && !socket.localAddress;
  return isUnix ? UNIX_PEER : undefined;
}

import type { ProxyView } from '../../src/http/client-key.js';
import type { Verdict } from '../../src/http/gate.js';
import type { RequestReader } from '../../src/http/request-reader.js';

/** A reader of requests that are all GET and have no headers and no connection. */
export function readerOf<Request>(
  addressOf: (request: Request) => string | undefined,
  proxies?: ProxyView<Request>,
): RequestReader<Request> {
  const nothing = (): undefined => undefined;
  return { addressOf, methodOf: () => 'GET', headerOf: nothing, peerOf: nothing, proxies };
}

/** All headers that a client would see of a verdict. */
export function seen({ headers, refusal }: Verdict): Record<string, string> {
  return Object.fromEntries([...headers.append, ...headers.replace, ...(refusal?.headers ?? [])]);
}

/** The body of a denial, as text. */
export function bodyOf({ refusal }: Verdict): string {
  return String(refusal?.body ?? '');
}

import { checkInteger } from '../arith/integers.js';
import { invalidType, invalidValue } from '../errors.js';
import { type HopReader, lastForwarded, lastForwardedFor } from '../key/hops.js';
import { canonicalHost } from '../key/host.js';
import { Networks, UNIX_PEER } from '../key/networks.js';
import { MAX_COUNT, walkBack } from '../key/walk.js';
import { checkChoice } from './missing-key.js';
import { FORWARDED_BY, type ForwardedBy, type ProxyOptions } from './proxy-options.js';
import { ProxyWarnings } from './proxy-warnings.js';
import { type NodeRequest, nodeReader, type RequestReader } from './request-reader.js';

/** The address of a request's client, or what a proxy wrote in its place. */
type AddressOf<Request> = (request: Request) => string | undefined;

/**
 * The client's address as the app's own list or count of proxies has it; undefined where it gave none,
 * so that the framework's view is to be taken.
 *
 * @throws TypeError or RangeError that names the option and shows the value
 */
export function clientAddresses<Request>(
  { trustedProxies, forwardedBy }: ProxyOptions,
  reader: RequestReader<Request>,
): AddressOf<Request> | undefined {
  if (trustedProxies === undefined) {
    if (forwardedBy === undefined) return undefined;
    throw invalidValue('forwardedBy', 'left out where trustedProxies is', forwardedBy);
  }
  const by = checkChoice('forwardedBy', FORWARDED_BY, forwardedBy ?? 'x-forwarded-for');
  if (Array.isArray(trustedProxies)) {
    return byList(new Networks('trustedProxies', trustedProxies), by, reader);
  }
  if (typeof trustedProxies !== 'number') {
    const expected = 'a list such as ["loopback", "10.0.0.0/8"], or a number of proxies';
    throw invalidType('trustedProxies', expected, trustedProxies);
  }
  const count = checkInteger('trustedProxies', trustedProxies, 1, MAX_COUNT);
  if (by === 'x-forwarded-for') return byCount(count, reader);
  const expected = '"x-forwarded-for" where trustedProxies is a number and not a list';
  throw invalidValue('forwardedBy', expected, forwardedBy);
}

/**
 * The function that gives the address of the client of a Node request, such as Express's, Fastify's and
 * Koa's too: one text however it was written, IPv4 as IPv4. Undefined where there is none: see
 * `noAddress`.
 *
 * @throws TypeError or RangeError that names the option and shows the value
 */
export function clientIp(
  options: ProxyOptions & { readonly trustedProxies: readonly string[] | number },
): (request: NodeRequest) => string | undefined {
  const reader = nodeReader<NodeRequest>(
    (request) => request,
    () => undefined,
  );
  const { trustedProxies, forwardedBy } = options;
  // Without a list there is no framework here whose view could be taken.
  const addressOf = clientAddresses(
    { trustedProxies: trustedProxies ?? null, forwardedBy },
    reader,
  );
  return (request) => canonicalHost(addressOf?.(request) ?? '');
}

const READERS: Readonly<Record<ForwardedBy, HopReader>> = {
  'x-forwarded-for': lastForwardedFor,
  forwarded: lastForwarded,
};

function byList<Request>(
  proxies: Networks,
  by: ForwardedBy,
  reader: RequestReader<Request>,
): AddressOf<Request> {
  const warnings = new ProxyWarnings(reader, by);
  if (proxies.haveEverybody) warnings.listHasEverybody();
  // A text in the header is no socket.
  const trusts = (node: string | undefined, index: number): boolean =>
    (index === 0 || node !== UNIX_PEER) && proxies.has(node);
  return (request) => {
    const peer = reader.peerOf(request);
    const header = headerOf(reader, request, by);
    if (header === '') {
      warnings.withoutHeader(request, () => proxies.has(peer));
      return peer;
    }
    if (!proxies.has(peer)) {
      warnings.fromStranger(peer);
      return peer;
    }
    return walkBack(peer, header, READERS[by], trusts).client;
  };
}

/** As Express counts: 1 is the peer alone, whose word is the last member. A Unix socket counts too. */
function byCount<Request>(count: number, reader: RequestReader<Request>): AddressOf<Request> {
  const warnings = new ProxyWarnings(reader, 'x-forwarded-for');
  const trusts = (_: string | undefined, index: number): boolean => index < count;
  return (request) => {
    const peer = reader.peerOf(request);
    const header = headerOf(reader, request, 'x-forwarded-for');
    const { client, hops } = walkBack(peer, header, lastForwardedFor, trusts);
    if (hops < count && !warnings.withoutHeader(request, () => header === '')) {
      warnings.fewerThanCounted(hops, count);
    }
    return client;
  };
}

/** A header as one text, its lines in their order; empty where there is none. */
function headerOf<Request>(
  reader: RequestReader<Request>,
  request: Request,
  name: ForwardedBy,
): string {
  const value = reader.headerOf(request, name);
  if (value === undefined) return '';
  return typeof value === 'string' ? value : value.join(', ');
}

import type { HopReader } from './hops.js';

/** The most members of a header that are read, empty ones among them. */
const MAX_MEMBERS = 200;

/** The most proxies that can be counted. */
export const MAX_COUNT = 100;

export interface Walk {
  /**
   * What stands at the end of the walk: an address, or a text where a proxy wrote no address; undefined
   * where it wrote nothing to read, or the way was too long.
   */
  readonly client: string | undefined;
  /** How many hops the header had to tell of on the way. */
  readonly hops: number;
}

/**
 * Walks the way of a request back from the peer of its connection, from the right end of the header to
 * the left: from a hop that is trusted to the one that it had the request from. The end is the first
 * that is not trusted, or the one farthest from here.
 *
 * @param trusts whether to believe what a hop wrote: the peer is the hop of index 0
 */
export function walkBack(
  peer: string | undefined,
  header: string,
  lastHop: HopReader,
  trusts: (node: string | undefined, index: number) => boolean,
): Walk {
  let client = peer;
  let hops = 0;
  let end = header.length;
  for (let read = 0; end > 0 && trusts(client, hops); ) {
    // Empty members are passed over, as in all lists (RFC 9110, section 5.6.1).
    let node: string | undefined = '';
    while (node === '' && end > 0) {
      if (++read > MAX_MEMBERS) return { client: undefined, hops };
      const hop = lastHop(header, end);
      node = hop.node;
      end = hop.start;
    }
    if (node === '') break;
    client = node;
    hops++;
  }
  return { client, hops };
}

import { checkOptionNames, invalidType, invalidValue } from '../errors.js';
import { parseHost } from './host.js';
import { formatIpv6, type Groups, ipv4Of, isIpv4, isMappedIpv4 } from './ip-address.js';

export interface AddressKeyOptions {
  /**
   * How many bits of an IPv6 address name a client: an integer from 32 to 128. Default 56, what a
   * provider gives a household or less.
   */
  ipv6Prefix?: number | undefined;
}

/** What a client counts as where the app does not say. */
const DEFAULT_IPV6_PREFIX = 56;

/**
 * The network that a client counts as, by its address: one canonical text however the address was
 * written. IPv4 as it is; IPv6 as its network, `2001:db8:0:1200::/56`, since one client has all
 * addresses of it. IPv4 written as IPv6 (`::ffff:192.0.2.1`) and behind the NAT64 of RFC 6052
 * (`64:ff9b::/96`) is the IPv4 address. Brackets, a port and a zone id are dropped.
 *
 * @returns undefined for what is not an address: a name, `unknown`, an empty text, nothing
 * @throws TypeError or RangeError where the prefix cannot be used
 */
export function addressKey(
  address: string | undefined,
  options: AddressKeyOptions = {},
): string | undefined {
  if (typeof options !== 'object' || options === null) {
    throw invalidType('options', 'an object such as { ipv6Prefix: 64 }', options);
  }
  checkOptionNames('', options, ['ipv6Prefix']);
  return networkOf(address, checkIpv6Prefix(options.ipv6Prefix));
}

/** @throws TypeError or RangeError where it is not an integer from 32 to 128 */
export function checkIpv6Prefix(prefix: unknown): number {
  if (prefix === undefined) return DEFAULT_IPV6_PREFIX;
  const expected = 'an integer from 32 to 128';
  if (typeof prefix !== 'number') throw invalidType('ipv6Prefix', expected, prefix);
  if (Number.isInteger(prefix) && prefix >= 32 && prefix <= 128) return prefix;
  throw invalidValue('ipv6Prefix', expected, prefix);
}

/** `addressKey` with a prefix that has been checked. */
export function networkOf(address: string | undefined, ipv6Prefix: number): string | undefined {
  if (typeof address !== 'string') return undefined;
  if (isIpv4(address)) return address;
  const groups = parseHost(address);
  if (groups === undefined) return undefined;
  return embeddedIpv4(groups) ?? `${formatIpv6(mask(groups, ipv6Prefix))}/${ipv6Prefix}`;
}

/** Of `::ffff:0:0/96` and `64:ff9b::/96`, whose last 32 bits are an IPv4 address. */
function embeddedIpv4(groups: Groups): string | undefined {
  const [a, b, c, d, e, f] = groups;
  const translated = a === 0x64 && b === 0xff9b && c === 0 && d === 0 && e === 0 && f === 0;
  return translated || isMappedIpv4(groups) ? ipv4Of(groups) : undefined;
}

function mask(groups: Groups, prefix: number): Groups {
  const masked = [...groups] as [...Groups];
  for (let i = prefix >> 4; i < 8; i++) {
    // The first of them keeps some bits, the others none.
    const bits = Math.max(prefix - i * 16, 0);
    masked[i] = (masked[i] as number) & (0xffff << (16 - bits));
  }
  return masked;
}

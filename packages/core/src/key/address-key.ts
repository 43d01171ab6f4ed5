import { checkOptionNames, invalidType, invalidValue } from '../errors.js';
import { formatIpv6, type Groups, isIpv4, parseIpv6 } from './ip-address.js';

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
  const host = withoutPort(address);
  if (host === undefined) return undefined;
  if (host !== address && isIpv4(host)) return host;
  const groups = parseIpv6(withoutZone(host));
  if (groups === undefined) return undefined;
  return embeddedIpv4(groups) ?? `${formatIpv6(mask(groups, ipv6Prefix))}/${ipv6Prefix}`;
}

/**
 * `203.0.113.7:49152` and `[2001:db8::1]:443` without the rest. Two colons without brackets are an
 * IPv6 address, of which nothing is a port. Undefined where brackets are wrong.
 */
function withoutPort(text: string): string | undefined {
  if (text.startsWith('[')) {
    const end = text.indexOf(']');
    const rest = text.slice(end + 1);
    const host = text.slice(1, end);
    return end > 0 && (rest === '' || isPort(rest)) && host.includes(':') ? host : undefined;
  }
  const colon = text.indexOf(':');
  if (colon < 0 || text.includes(':', colon + 1)) return text;
  return isPort(text.slice(colon)) ? text.slice(0, colon) : undefined;
}

function isPort(text: string): boolean {
  return /^:\d{1,5}$/.test(text) && Number(text.slice(1)) <= 65_535;
}

/** `fe80::1%eth0` without the interface, which is this host's own name for a link. */
function withoutZone(host: string): string {
  const percent = host.indexOf('%');
  return percent < 0 || percent === host.length - 1 ? host : host.slice(0, percent);
}

/** Of `::ffff:0:0/96` and `64:ff9b::/96`, whose last 32 bits are an IPv4 address. */
function embeddedIpv4(groups: Groups): string | undefined {
  const [a, b, c, d, e, f, high, low] = groups;
  if (c !== 0 || d !== 0 || e !== 0) return undefined;
  const mapped = a === 0 && b === 0 && f === 0xffff;
  const translated = a === 0x64 && b === 0xff9b && f === 0;
  if (!mapped && !translated) return undefined;
  return `${high >> 8}.${high & 0xff}.${low >> 8}.${low & 0xff}`;
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

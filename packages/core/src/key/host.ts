import {
  formatIpv6,
  type Groups,
  ipv4Of,
  isIpv4,
  isMappedIpv4,
  mappedIpv4,
  parseIpv6,
} from './ip-address.js';

/**
 * An address as proxies and frameworks write it: with a port, in brackets, with a zone id, or bare.
 * IPv4 is as if written in IPv6 (`::ffff:192.0.2.1`). Undefined for what is no address.
 */
export function parseHost(text: string): Groups | undefined {
  if (isIpv4(text)) return mappedIpv4(text);
  const host = withoutPort(text);
  if (host === undefined) return undefined;
  return isIpv4(host) ? mappedIpv4(host) : parseIpv6(withoutZone(host));
}

/** The one text for an address, however it was written: without port, brackets and zone id. */
export function canonicalHost(text: string): string | undefined {
  if (isIpv4(text)) return text;
  const groups = parseHost(text);
  if (groups === undefined) return undefined;
  return isMappedIpv4(groups) ? ipv4Of(groups) : formatIpv6(groups);
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

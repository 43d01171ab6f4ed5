/** An IPv6 address: eight integers of 16 bits, the first one leftmost. */
export type Groups = readonly [number, number, number, number, number, number, number, number];

/** One number of an IPv4 address: 0 to 255, without leading zeros, which some read as octal. */
const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);
const ZEROS: Groups = [0, 0, 0, 0, 0, 0, 0, 0];

/** True for four decimal numbers with dots between them. There is one way to write each address. */
export function isIpv4(text: string): boolean {
  return text.length <= 15 && IPV4.test(text);
}

/**
 * An IPv6 address in any of its spellings, the last 32 bits as IPv4 among them; undefined for any
 * other text. A zone id, brackets or a prefix length are no part of an address.
 */
export function parseIpv6(text: string): Groups | undefined {
  if (text.length > 45) return undefined;
  const groups: number[] = [];
  /** How many groups stand before `::`. */
  let gap = text.startsWith('::') ? 0 : undefined;
  let at = gap === undefined ? 0 : 2;
  while (at < text.length) {
    const start = at;
    let group = 0;
    for (let digit = hexAt(text, at); digit >= 0; digit = hexAt(text, ++at)) {
      group = (group << 4) | digit;
    }
    if (text[at] === '.') {
      const tail = text.slice(start);
      if (!isIpv4(tail)) return undefined;
      groups.push(...pairsOf(tail));
      break;
    }
    if (at === start || at > start + 4) return undefined;
    groups.push(group);
    if (at === text.length) break;
    // One colon, or two, and something behind one.
    if (text[at++] !== ':' || at === text.length) return undefined;
    if (text[at] !== ':') continue;
    if (gap !== undefined) return undefined;
    gap = groups.length;
    at++;
  }
  // `::` stands for at least one group.
  if (gap === undefined ? groups.length !== 8 : groups.length > 7) return undefined;
  if (gap !== undefined) groups.splice(gap, 0, ...ZEROS.slice(groups.length));
  return groups as unknown as Groups;
}

/** An IPv4 address as IPv6 has it: `::ffff:192.0.2.1`. */
export function mappedIpv4(ipv4: string): Groups {
  const [high, low] = pairsOf(ipv4);
  return [0, 0, 0, 0, 0, 0xffff, high, low];
}

/** True for an IPv4 address written as IPv6. */
export function isMappedIpv4([a, b, c, d, e, f]: Groups): boolean {
  return f === 0xffff && a === 0 && b === 0 && c === 0 && d === 0 && e === 0;
}

/** The last 32 bits. */
export function ipv4Of([, , , , , , high, low]: Groups): string {
  return `${high >> 8}.${high & 0xff}.${low >> 8}.${low & 0xff}`;
}

function pairsOf(ipv4: string): [high: number, low: number] {
  let bits = 0;
  let octet = 0;
  for (let at = 0; at <= ipv4.length; at++) {
    // Behind the end it is NaN, and no digit either.
    const code = ipv4.charCodeAt(at);
    if (code >= 48) {
      octet = octet * 10 + code - 48;
    } else {
      bits = (bits << 8) | octet;
      octet = 0;
    }
  }
  return [bits >>> 16, bits & 0xffff];
}

/** The value of a hex digit; -1 for anything else. */
function hexAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

/** In the canonical form of RFC 5952: lower case, the first of the longest runs of zeros as `::`. */
export function formatIpv6(groups: Groups): string {
  let start = 8;
  let length = 1;
  for (let i = 0; i < 8; i++) {
    let end = i;
    while (groups[end] === 0) end++;
    if (end - i <= length) continue;
    start = i;
    length = end - i;
  }
  let text = '';
  for (let i = 0; i < 8; i++) {
    if (i === start) {
      text += '::';
      i += length - 1;
    } else {
      text += `${text === '' || text.endsWith(':') ? '' : ':'}${groups[i]?.toString(16)}`;
    }
  }
  return text;
}

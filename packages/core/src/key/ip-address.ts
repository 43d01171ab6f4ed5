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
      const [a = 0, b = 0, c = 0, d = 0] = tail.split('.').map(Number);
      groups.push((a << 8) | b, (c << 8) | d);
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

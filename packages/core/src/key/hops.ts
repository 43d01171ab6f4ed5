/** The last member of a header, in front of `end`. */
export interface Hop {
  /** The address as it is written there; undefined where none is, empty where the member is empty. */
  readonly node: string | undefined;
  /** Where the member begins: `end` of those in front of it. */
  readonly start: number;
}

/**
 * Reads a header from its right end, a member at a time. What stands in front of a member that is well
 * formed never changes how that is read: its proxy wrote it, and a client all before.
 */
export type HopReader = (header: string, end: number) => Hop;

/** The longest member that is read, in characters; a longer one has no address. */
const MAX_MEMBER = 512;

/** Of X-Forwarded-For: texts between commas. */
export function lastForwardedFor(header: string, end: number): Hop {
  const start = header.lastIndexOf(',', end - 1);
  const node = end - start - 1 > MAX_MEMBER ? undefined : header.slice(start + 1, end).trim();
  return { node, start };
}

/** A name of a parameter (RFC 9110, section 5.6.2). */
const TOKEN = /[!#$%&'*+.^_`|~\w-]/;
/** A value without quotes. Ports and brackets need quotes by the RFC, and are often without. */
const NOT_PLAIN = ' \t",;=\\';
/** Between quotes. */
const QUOTED = /^(?:[^"\\]|\\.)*$/s;
/** A port that is hidden (RFC 7239, section 6.2). */
const HIDDEN_PORT = /:_[\w.-]+$/;

/**
 * Of Forwarded (RFC 7239, section 4): the parameter `for` of the last member.
 *
 * A comma within quotes is none. Which quotes belong together is clear from the right as well: of a
 * text in quotes that ends here, every quote within has an odd number of backslashes in front, and the
 * one that begins it stands behind `=`. Read from the left, a quote that a client leaves open would
 * swallow what its proxy appends.
 */
export function lastForwarded(header: string, end: number): Hop {
  const from = Math.max(end - MAX_MEMBER - 1, 0);
  const text = header.slice(from, end);
  const none: Hop = { node: undefined, start: from - 1 };
  let node: string | undefined;
  let isEmpty = true;
  /** What is in front of here is not yet read. */
  let at = text.length;
  for (;;) {
    at = text.slice(0, at).trimEnd().length;
    if (at === 0 && text.length > MAX_MEMBER) return none;
    if (at === 0 || text[at - 1] === ',') {
      return { node: isEmpty ? '' : node, start: from + at - 1 };
    }
    isEmpty = false;
    if (text[at - 1] !== ';') {
      const pair = lastPair(text, at);
      if (pair === undefined) return none;
      at = text.slice(0, pair.start).trimEnd().length;
      if (at > 0 && text[at - 1] !== ';' && text[at - 1] !== ',') return none;
      if (pair.name !== 'for') continue;
      // Two of them say two things, or were written by two.
      if (node !== undefined) return none;
      node = pair.value.replace(HIDDEN_PORT, '');
    } else at--;
  }
}

interface Pair {
  readonly name: string;
  readonly value: string;
  readonly start: number;
}

/** `name=value` that ends at `end`. */
function lastPair(text: string, end: number): Pair | undefined {
  const isQuoted = text[end - 1] === '"';
  const begin = isQuoted ? openingQuote(text, end - 1) : startOf(isPlain, text, end);
  const written = isQuoted ? text.slice(begin + 1, end - 1) : text.slice(begin, end);
  if (isQuoted ? !QUOTED.test(written) : written === '') return undefined;
  const equals = begin - 1;
  const start = startOf(isToken, text, equals);
  if (text[equals] !== '=' || start === equals) return undefined;
  const value = isQuoted ? written.replace(/\\(.)/gs, '$1') : written;
  return { name: text.slice(start, equals).toLowerCase(), value, start };
}

/** Where the characters of one kind begin that end at `end`. */
function startOf(isOne: (character: string) => boolean, text: string, end: number): number {
  let start = end;
  while (start > 0 && isOne(text[start - 1] as string)) start--;
  return start;
}

function isPlain(character: string): boolean {
  return !NOT_PLAIN.includes(character);
}

function isToken(character: string): boolean {
  return TOKEN.test(character);
}

/** Where the quote stands that begins what the one at `close` ends; 0, in front of which no name is, without one. */
function openingQuote(text: string, close: number): number {
  for (let at = close - 1; at >= 0; at--) {
    if (text[at] !== '"') continue;
    let first = at;
    while (text[first - 1] === '\\') first--;
    if ((at - first) % 2 === 0) return at;
    at = first;
  }
  return 0;
}

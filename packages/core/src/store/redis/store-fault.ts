import type { StoreFault } from '../../errors.js';

/** By the word that a server's error reply begins with. */
const BY_CODE: ReadonlyMap<string, StoreFault> = new Map([
  ['LOADING', 'unavailable'],
  ['BUSY', 'unavailable'],
  ['TRYAGAIN', 'unavailable'],
  ['CLUSTERDOWN', 'unavailable'],
  ['MASTERDOWN', 'unavailable'],
  ['MOVED', 'unavailable'],
  ['ASK', 'unavailable'],
  ['READONLY', 'read-only'],
  ['MISCONF', 'read-only'],
  ['NOREPLICAS', 'read-only'],
  ['UNBLOCKED', 'read-only'],
  ['OOM', 'memory'],
  ['NOAUTH', 'permission'],
  ['NOPERM', 'permission'],
  ['WRONGPASS', 'permission'],
  ['DENIED', 'permission'],
]);

/** What a server before Redis 7.2 says, without a code, where a script may not do something. */
const DENIED_IN_SCRIPT = /The user executing the script can't|ACL failure in script/;

/** What has no code: texts of servers, and of ioredis where it has no connection. */
const BY_TEXT: readonly (readonly [RegExp, StoreFault])[] = [
  [DENIED_IN_SCRIPT, 'permission'],
  [/unknown command ['`]?eval/i, 'permission'],
  [/invalid password/, 'permission'],
  [/max number of clients/, 'unavailable'],
  [/^ERR WAIT cannot be used with replica/, 'read-only'],
  [/^Command timed out|^Socket timeout/, 'timeout'],
  [
    /Connection is closed|connection close|isn't (writeable|ready) and enableOffline/i,
    'connection',
  ],
  [/Cluster is (ended|disconnect)|Node is disconnected|None of startup nodes/, 'connection'],
  [/Failed to refresh slots cache|sentinels are unreachable/, 'connection'],
  [/max retries per request/, 'connection'],
];

/** Of an error that Node's sockets and resolver make. */
const NO_CONNECTION =
  /^(ECONN|EPIPE|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT|ENOENT|EACCES|ERR_TLS|ERR_SSL|CERT_)/;

/** Errors stand in one another; a chain of more is a circle. */
const MAX_DEPTH = 5;

/** The client has no connection now, and was handed nothing. */
export class NotConnected extends Error {}

/** What kind of trouble an error of the client tells of, by its own text or those it was made of. */
export function faultOf(error: unknown): StoreFault {
  return findFault(error, MAX_DEPTH) ?? 'other';
}

/** True where the server says that it is a Redis replica: a primary no more, if it was one. */
export function isReplica(error: unknown): boolean {
  return codesOf(textOf(error)).some((code) => code === 'READONLY' || code === 'MASTERDOWN');
}

/** True where the server's user may not run a command or touch a key. */
export function isDenied(error: unknown): boolean {
  const text = textOf(error);
  return codesOf(text).includes('NOPERM') || DENIED_IN_SCRIPT.test(text);
}

function findFault(error: unknown, depth: number): StoreFault | undefined {
  if (depth === 0 || error === undefined || error === null) return undefined;
  if (error instanceof NotConnected) return 'connection';
  const { code, errors, lastNodeError, cause } = Object(error) as Record<string, unknown>;
  const within = [lastNodeError, ...(Array.isArray(errors) ? errors : []), cause];
  for (const inner of within) {
    const fault = findFault(inner, depth - 1);
    if (fault !== undefined) return fault;
  }
  if (typeof code === 'string' && NO_CONNECTION.test(code)) return 'connection';
  const text = textOf(error);
  const byCode = codesOf(text).find((word) => BY_CODE.has(word));
  if (byCode !== undefined) return BY_CODE.get(byCode);
  return BY_TEXT.find(([pattern]) => pattern.test(text))?.[1];
}

/** What an error says, whatever it is. */
export function textOf(error: unknown): string {
  const { message } = Object(error) as { message?: unknown };
  return typeof message === 'string' ? message : String(error);
}

/**
 * The codes in a text: its first word, and those behind a colon, where an older server or the client
 * has wrapped it: `ERR Error running script (call to f_…): @user_script:12: @user_script: 12: -READONLY …`.
 */
function codesOf(text: string): readonly string[] {
  return [...text.matchAll(/(?:^|: ?)-?([A-Z]{3,})(?= |$)/g)].map(([, code]) => code as string);
}

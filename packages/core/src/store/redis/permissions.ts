import { isDenied } from './store-fault.js';

/**
 * Every command that the user of the client needs for this store: those it is called with, and those
 * the scripts call. Without `evalsha` it works too, and sends the whole script with every call.
 */
export const NEEDED_COMMANDS = [
  'eval',
  'evalsha',
  'time',
  'get',
  'mget',
  'set',
  'psetex',
  'del',
  'pexpire',
  'strlen',
  'getrange',
  'setrange',
  'append',
  'zadd',
  'zcard',
  'zrangebyscore',
  'zrem',
  'zremrangebyscore',
] as const;

/** What a user needs, in the words of `ACL SETUSER`: `~rl:* +eval +evalsha …`. */
export function aclRules(prefix: string): string {
  return [`~${prefix}:*`, ...NEEDED_COMMANDS.map((name) => `+${name}`)].join(' ');
}

/** What a store with `durability` needs besides, where WAIT was denied. */
export function waitHint(error: unknown): string {
  return isDenied(error) ? '; with durability its user in Redis needs +wait' : '';
}

/** What to add to the message of an error of a server, which may not name what it denied. */
export function permissionHint(error: unknown, prefix: string): string {
  return isDenied(error) ? `; its user in Redis needs ${aclRules(prefix)}` : '';
}

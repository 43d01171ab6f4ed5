import { createHmac } from 'node:crypto';
import type { Decision } from '../../decision/decision.js';
import type { Header, HeaderFormat, Told } from './header.js';
import { sfBytes, sfInteger, sfString, toSeconds } from './structured-field.js';

/** Bytes of a hashed partition key: enough to tell the keys of one client apart. */
const PARTITION_KEY_BYTES = 12;

/**
 * The fields of draft-ietf-httpapi-ratelimit-headers-11, since revision 8 the same: both a List of
 * Strings with a member for each policy. `RateLimit-Policy: "tenant";q=100;w=60` and
 * `RateLimit: "tenant";r=42;t=17`.
 *
 * @param secret with it each member has `pk`, a keyed hash of the partition key: it says which of a
 * client's keys was charged, and nobody without the secret can turn it back
 */
export function draft11(secret?: string | Uint8Array | undefined): HeaderFormat {
  const keyOf = secret === undefined ? undefined : (told: Told) => partitionKey(secret, told);
  return {
    names: ['RateLimit-Policy', 'RateLimit'],
    isList: true,
    write: (told) => fields(told, keyOf),
  };
}

function fields(
  told: readonly Told[],
  keyOf: ((told: Told) => string) | undefined,
): readonly Header[] {
  let policies = '';
  let states = '';
  for (const one of told) {
    const policy = policyOf(one.decision);
    const key = keyOf === undefined ? '' : keyOf(one);
    const comma = policies === '' ? '' : ', ';
    policies += comma + policy.member + key;
    states += comma + policy.name + stateOf(one.decision) + key;
  }
  return [
    ['RateLimit-Policy', policies],
    ['RateLimit', states],
  ];
}

/** What is written of a policy. It seldom changes, and is on every response: so it is kept. */
interface PolicyText {
  readonly limit: number;
  readonly windowMs: number;
  /** Its name as a String. */
  readonly name: string;
  readonly member: string;
}

const TEXTS = new Map<string, PolicyText>();

/** Most names that are kept. */
const MAX_TEXTS = 1000;

/**
 * With the limit that was in force. The window is left out where it is not of whole seconds, as the
 * field has no other unit.
 */
function policyOf({ policy, limit, windowMs }: Decision): PolicyText {
  const known = TEXTS.get(policy);
  if (known !== undefined && known.limit === limit && known.windowMs === windowMs) return known;
  const name = sfString(policy);
  const window = windowMs % 1000 === 0 ? `;w=${sfInteger(windowMs / 1000)}` : '';
  const text = { limit, windowMs, name, member: `${name};q=${sfInteger(limit)}${window}` };
  if (TEXTS.size >= MAX_TEXTS) TEXTS.clear();
  TEXTS.set(policy, text);
  return text;
}

/**
 * `t` is the time within which no more than `r` can be had: the refill of one more permit, or the
 * wait for the denied cost. It is left out where the bucket is full.
 */
function stateOf(decision: Decision): string {
  const waitMs = decision.retryAfterMs ?? decision.refillAfterMs;
  const time = waitMs === undefined ? '' : `;t=${sfInteger(toSeconds(waitMs))}`;
  return `;r=${sfInteger(decision.remaining)}${time}`;
}

/** Of the policy too, so that equal keys under two policies do not show as equal. */
function partitionKey(secret: string | Uint8Array, { decision, key }: Told): string {
  const hash = createHmac('sha256', secret).update(`${decision.policy}\0${key}`).digest();
  return `;pk=${sfBytes(hash.subarray(0, PARTITION_KEY_BYTES))}`;
}

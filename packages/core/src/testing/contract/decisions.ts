import type { Decision } from '../../decision/decision.js';
import type { Policy } from '../../policy/policy.js';
import type { Claim, Grant } from '../../store/store.js';
import { expectEqual, expectTrue } from './expect.js';

/** A decision without who made it: what two stores must agree on to the digit. */
export function facts(decision: Decision): Omit<Decision, 'origin'> {
  const { origin: _, ...rest } = decision;
  return rest;
}

/**
 * Holds a store's decision to what is true of every one, whatever was asked.
 *
 * @param cost permits of the check; 0 for a refund or an overcharge, which answer as a look
 */
export function expectSound(policy: Policy, cost: number, decision: Decision): void {
  const { allowed, remaining, retryAfterMs, refillAfterMs, resetAfterMs } = decision;
  const holds = (what: string, condition: boolean) => expectTrue(what, condition, decision);
  const isTime = (ms: number) => Number.isSafeInteger(ms) && ms >= 0;

  expectEqual('policy of the decision', decision.policy, policy.name);
  expectEqual('limit of the decision', decision.limit, policy.limit);
  expectEqual('windowMs of the decision', decision.windowMs, policy.windowMs);
  expectEqual('each of a decision under one policy', decision.each, undefined);
  holds('allowed must be true or false', typeof allowed === 'boolean');
  holds(
    'remaining must be an integer from 0 to the burst',
    Number.isSafeInteger(remaining) && remaining >= 0 && remaining <= policy.burst,
  );
  for (const ms of [retryAfterMs, refillAfterMs]) {
    holds('times must be whole and at least 0, or undefined', ms === undefined || isTime(ms));
  }
  holds('resetAfterMs must be whole and at least 0', isTime(resetAfterMs));
  if (policy.limit > 0) {
    holds(
      'a bucket that is not full, and no other, has a refillAfterMs',
      (resetAfterMs === 0) === (refillAfterMs === undefined),
    );
  }
  if (refillAfterMs !== undefined) {
    holds('the first permit is back no later than all', refillAfterMs <= resetAfterMs);
  }
  holds('what fits must not be denied', fitted(decision) || remaining < cost);
  if (policy.shadow) holds('a shadow policy never denies', allowed);
  else holds('only a shadow policy tells wouldDeny', decision.wouldDeny === false);
  if (allowed || cost > policy.burst) {
    holds('no wait is told where the call may go ahead or never can', retryAfterMs === undefined);
  } else {
    holds(
      'a denial must tell a wait from 1 ms to resetAfterMs',
      retryAfterMs !== undefined && retryAfterMs >= 1 && retryAfterMs <= resetAfterMs,
    );
  }
}

/** Holds the answer to a claim to what is true of every one; its decisions apart. */
export function expectSoundGrant({ policy, extra }: Claim, grant: Grant): void {
  const { permits, epoch, lifeMs } = grant;
  const holds = (what: string, condition: boolean) => expectTrue(what, condition, grant);
  const share = policy.lease?.share ?? 0;
  const isWithin = (value: number, min: number, max: number) =>
    Number.isSafeInteger(value) && value >= min && value <= max;
  holds('permits must be an integer from 0 to what was asked', isWithin(permits, 0, extra));
  holds('no more may be granted than the share', permits <= share);
  if (permits === 0) return;
  holds('an epoch must be an integer, for reports to name', Number.isSafeInteger(epoch));
  holds('lifeMs must be from 1 ms to the ttl', isWithin(lifeMs, 1, policy.lease?.ttlMs ?? 0));
}

/** True where the cost was there, also under a shadow policy. */
function fitted({ allowed, wouldDeny }: Decision): boolean {
  return allowed && !wouldDeny;
}

import { makeDecision } from '../algorithms/make-decision.js';
import type { Decision } from '../decision/decision.js';
import { type Policy, samePolicy } from '../policy/policy.js';

/**
 * The longest time for which a denial is remembered. By then permits can have come back elsewhere, by
 * a refund or from another replica: once a second is asked.
 */
export const LONGEST_MS = 1000;

/** A denial by the store, as a replica remembers it: until then it says the same by itself. */
export interface Denial {
  readonly policy: Policy;
  /** What did not fit: nothing that costs as much does, meanwhile. */
  readonly cost: number;
  readonly untilMs: number;
  /** When it fits, at the earliest; undefined where it never will. */
  readonly fitsAtMs: number | undefined;
  readonly remaining: number;
  /** When `remaining` grows. */
  readonly refillAtMs: number | undefined;
  /** When the bucket is full; undefined where it was. */
  readonly resetAtMs: number | undefined;
  /** From this replica's clock to the store's. */
  readonly storeAheadMs: number;
}

/**
 * What is to be remembered of a decision. It was made between `sentAtMs` and `nowMs`: the memory ends
 * as if it had been made at once, and what clients are told to wait counts from its arrival.
 *
 * @param fitsAfterMs the time from the decision until `cost` permits fit; undefined: they never will
 * @param atLeastMs how long it is remembered at least, from its arrival on
 */
export function denialOf(
  policy: Policy,
  cost: number,
  decision: Decision,
  fitsAfterMs: number | undefined,
  atLeastMs: number,
  sentAtMs: number,
  nowMs: number,
): Denial {
  const { remaining, refillAfterMs, resetAfterMs, decidedAtMs } = decision;
  const waitMs = Math.min(fitsAfterMs ?? LONGEST_MS, LONGEST_MS);
  return {
    policy,
    cost,
    untilMs: Math.max(sentAtMs + waitMs, nowMs + atLeastMs),
    fitsAtMs: fitsAfterMs === undefined ? undefined : nowMs + fitsAfterMs,
    remaining,
    refillAtMs: refillAfterMs === undefined ? undefined : nowMs + refillAfterMs,
    resetAtMs: resetAfterMs === 0 ? undefined : nowMs + resetAfterMs,
    storeAheadMs: decidedAtMs - sentAtMs,
  };
}

/** True where the store had no room for the cost; a shadow policy allows the call all the same. */
export function isDenial({ allowed, wouldDeny }: Decision): boolean {
  return !allowed || wouldDeny;
}

/** True where `denial` says that `cost` permits do not fit at `nowMs`, and when they will. */
export function denies(denial: Denial, policy: Policy, cost: number, nowMs: number): boolean {
  if (nowMs >= denial.untilMs || !isOf(denial, policy)) return false;
  return cost === denial.cost || (cost > denial.cost && !isUneven(policy));
}

/** A policy made anew for a call is the same where its values are. */
function isOf({ policy: own }: Denial, policy: Policy): boolean {
  return policy === own || (samePolicy(policy, own) && policy.shadow === own.shadow);
}

/** True where it depends on what was spent when how long a greater cost has to wait. */
function isUneven({ algorithm }: Policy): boolean {
  return algorithm === 'sliding-window' || algorithm === 'sliding-log';
}

/** What a cost that is greater by `more` permits waits longer: exact, or a millisecond too much. */
function longerMs({ algorithm, limit, windowMs }: Policy, more: number): number {
  return algorithm === 'fixed-window' ? 0 : Math.ceil((more * windowMs) / limit);
}

/** The decision that says so once more. */
export function denyAgain(denial: Denial, policy: Policy, cost: number, nowMs: number): Decision {
  const { fitsAtMs, refillAtMs, resetAtMs } = denial;
  const never = fitsAtMs === undefined || cost > policy.burst;
  const fitsLaterMs = never ? 0 : fitsAtMs + longerMs(policy, cost - denial.cost);
  // Until then this replica does not ask: no earlier try can succeed here.
  const tryAtMs = Math.max(fitsLaterMs, denial.untilMs);
  return makeDecision(
    policy,
    false,
    denial.remaining,
    never ? undefined : tryAtMs - nowMs,
    refillAtMs === undefined ? undefined : Math.max(1, refillAtMs - nowMs),
    resetAtMs === undefined ? 0 : Math.max(1, resetAtMs - nowMs),
    nowMs + denial.storeAheadMs,
    'memory',
  );
}

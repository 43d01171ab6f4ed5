import type { Decision } from '../../src/decision/decision.js';
import { createLimiter, type Limiter } from '../../src/limiter/limiter.js';
import { type Policy, type PolicyOptions, parsePolicy } from '../../src/policy/policy.js';
import type { Grant } from '../../src/store/store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { AnsweredStore, doesNotFit, grantOf, together } from './answered-store.js';
import { PATIENT } from './patient.js';

/** At most 5 permits are leased, for a second; a permit comes back each 100 ms. The pace is 60 ms. */
export const SMALL = { limit: 10, window: '1s', lease: true } as const;
/** Looks so little ahead that nothing is leased of it here. */
export const NEVER_AHEAD = { limit: 10, window: '1s', lease: { horizon: 1 } } as const;
export const BIG = { limit: 1000, window: '1s', lease: true } as const;
export const SMALL_POLICY: Policy = parsePolicy('p', SMALL, 'policies.p');

export interface Replica {
  readonly limiter: Limiter;
  readonly store: AnsweredStore;
  readonly clock: ManualClock;
}

export function open(policies: Record<string, PolicyOptions>): Replica {
  const store = new AnsweredStore();
  const clock = new ManualClock();
  return { store, clock, limiter: createLimiter({ policies, store, fallback: PATIENT, clock }) };
}

/** Asks for the whole burst at once, in as many calls, so that half of it is leased: of `SMALL`, 5 permits. */
export async function warm(
  { limiter, store, clock }: Replica,
  { policy = 'p', answerAfterMs = 0, ...answer }: WarmOptions = {},
): Promise<void> {
  together(limiter, limiter.policies.get(policy)?.burst ?? 0, policy);
  const claim = await store.claimed();
  clock.advance(answerAfterMs);
  await claim.answer(grantOf(claim.asked, answer));
}

export interface WarmOptions extends Partial<Grant> {
  policy?: string;
  answerAfterMs?: number;
}

export async function openWarm(
  policies: Record<string, PolicyOptions> = { p: SMALL },
  options?: WarmOptions,
): Promise<Replica> {
  const replica = open(policies);
  await warm(replica, options);
  return replica;
}

/** The store has denied a call of `cost` permits just now. */
export async function openDenied(
  policy: PolicyOptions,
  waitMs: number,
  cost = 1,
): Promise<Replica> {
  const replica = open({ p: policy });
  const call = replica.limiter.consume({ p: 'k' }, { cost });
  const check = await replica.store.checked();
  await check.answer(doesNotFit(check.asked.policy, waitMs));
  await call;
  return replica;
}

/** The decisions that are made at once on `count` calls. */
export function spend({ limiter }: Replica, count: number, policy = 'p'): (Decision | undefined)[] {
  return Array.from({ length: count }, () => limiter.tryConsume({ [policy]: 'k' }));
}

export function origins(decisions: readonly (Decision | undefined)[]): (string | undefined)[] {
  return decisions.map((decision) => decision?.origin);
}

export const five: string[] = ['lease', 'lease', 'lease', 'lease', 'lease'];

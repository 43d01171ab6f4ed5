import type { Policy } from '../policy/policy.js';
import type { Rules } from './algorithm.js';
import { tokenBucket } from './token-bucket.js';

/*
 * GCRA, the generic cell rate algorithm of ATM (ITU-T I.371), in exact integers.
 *
 * Permits are due at equal distances of windowMs ÷ limit. What is kept is how far the theoretical
 * arrival time of the next one, the TAT, is ahead of now: each permit that is taken moves it
 * windowMs ÷ limit further, time brings it back, and a call fits while it would not be more than
 * burst × windowMs ÷ limit ahead. To stay exact that distance is counted in units of
 * 1 ÷ limit of a millisecond:
 *
 *   a permit moves the TAT      windowMs units
 *   it may be ahead             burst × windowMs units   (below 2^53, see policy/)
 *   a millisecond brings back   limit units
 *
 * Worked: 5 per second, burst 5. A permit is 200 ms, so 1000 units of a fifth of a millisecond.
 * Five calls at once move the TAT 5000 units ahead, which is the most; the sixth waits until one
 * permit's 1000 units have passed: 1000 / 5 = 200 ms.
 *
 * With the same burst it decides as the token bucket does: what is ahead is what is missing there.
 * They differ where a limit changes: a bucket keeps the permits that were spent, GCRA keeps its time.
 * A client that would have had to wait 3 s still has to, however many permits that is now.
 */

/** What a store keeps for one bucket. */
export interface GcraState {
  /** How far the TAT was ahead of `atMs`, in units of 1 ÷ `limit` ms. */
  ahead: number;
  atMs: number;
  /** The limit that gives `ahead` its unit; another one than the policy's after a change. */
  limit: number;
  /** Whether a settlement had taken it further ahead than a call may. */
  debt: boolean;
}

/**
 * Units the TAT is ahead of `nowMs`. A clock that stepped back brings it no nearer, and a policy that
 * has become smaller keeps nobody waiting longer than for an empty bucket.
 */
function aheadAt(policy: Policy, state: GcraState | undefined, nowMs: number): number {
  if (state === undefined || policy.limit === 0) return 0;
  let { ahead } = state;
  if (state.limit !== policy.limit) ahead = rescale(ahead, state.limit, policy.limit);
  ahead = Math.min(ahead, state.debt ? mostAhead(policy) : policy.burst * policy.windowMs);
  const passed = nowMs > state.atMs ? (nowMs - state.atMs) * policy.limit : 0;
  return passed >= ahead ? 0 : ahead - passed;
}

/** The same time in units of another limit, rounded up. What is beyond 2^53 is capped later. */
function rescale(ahead: number, from: number, to: number): number {
  const ms = Math.floor(ahead / from);
  return ms * to + Math.ceil(((ahead - ms * from) * to) / from);
}

/** By force, an overdraft further than a call may take it. */
function mostAhead(policy: Policy): number {
  return (policy.burst + policy.overdraft) * policy.windowMs;
}

function stateOf(policy: Policy, ahead: number, atMs: number): GcraState {
  return { ahead, atMs, limit: policy.limit, debt: ahead > policy.burst * policy.windowMs };
}

/** The rules of GCRA. A view is how far the TAT is ahead, and so is its one fact. */
export const gcra: Rules<GcraState, number> = {
  read: aheadAt,
  fits: (policy, ahead, cost) =>
    cost === 0 || cost * policy.windowMs <= policy.burst * policy.windowMs - ahead,
  charge: (policy, ahead, cost, nowMs) => stateOf(policy, ahead + cost * policy.windowMs, nowMs),
  overcharge: (policy, ahead, permits, nowMs) =>
    stateOf(policy, Math.min(mostAhead(policy), ahead + permits * policy.windowMs), nowMs),
  giveBack: (policy, ahead, permits, nowMs) =>
    stateOf(policy, Math.max(0, ahead - permits * policy.windowMs), nowMs),
  steppedBack: ({ atMs }, nowMs) => nowMs < atMs,
  restart: (policy, ahead, nowMs) => stateOf(policy, ahead, nowMs),
  idleAfterMs: (policy, { ahead }) => (ahead === 0 ? 0 : Math.ceil(ahead / policy.limit)),
  facts: (_policy, ahead) => [ahead],
  factCount: 1,
  // What is ahead here is what is missing there, unit for unit.
  decide: tokenBucket.decide,
};

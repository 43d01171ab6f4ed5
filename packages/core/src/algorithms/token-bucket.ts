import type { Decision, Origin } from '../decision/decision.js';
import type { Policy } from '../policy/policy.js';
import type { Rules } from './algorithm.js';
import { makeDecision } from './make-decision.js';

/*
 * Token bucket, in exact integers.
 *
 * A bucket holds up to `burst` permits and regains `limit` of them evenly over each window. To
 * stay exact for any limit and window, its level is counted in units of permits × windowMs:
 *
 *   a permit costs           windowMs units
 *   a full bucket holds      burst × windowMs units   (below 2^53, see policy/)
 *   refill                   limit units a millisecond
 *
 * Worked: 700 per second, burst 700. A permit costs 1000 units and each millisecond brings 700, so
 * after emptying the bucket the next permit is there after ceil(1000 / 700) = 2 ms, with 400 units
 * towards the one after; after 10 ms exactly 7 permits have returned. A limiter that rounds
 * "1000 / 700" to 1 ms a permit would give 1000 a second.
 *
 * The level is computed on demand from the time that has passed; nothing runs in the background.
 * Settling may take it below zero, and later calls wait for that to be refilled.
 */

/** What a store keeps for one bucket. */
export interface TokenBucketState {
  /** Units missing to a full bucket at `atMs`; more than a full one after a settlement. */
  missing: number;
  /** The store's clock when `missing` was true. */
  atMs: number;
  /** The window that gives `missing` its unit; another one than the policy's after a change. */
  windowMs: number;
  /** Whether a settlement had taken the bucket below zero. */
  debt: boolean;
}

/**
 * Units in the bucket at `nowMs`, refilled since `state` was written and capped at a full bucket;
 * below 0 after a settlement.
 *
 * A clock that stepped back brings no refill and takes none. After a change of policy what was
 * spent stays spent: a larger burst leaves that much more, a smaller one that much less, but not
 * below zero. Only a settlement goes there, and down to the new overdraft.
 */
export function levelAt(
  policy: Policy,
  state: TokenBucketState | undefined,
  nowMs: number,
): number {
  const full = policy.burst * policy.windowMs;
  if (state === undefined) return full;
  const most = state.debt ? full + policy.overdraft * policy.windowMs : full;
  let missing = state.windowMs === policy.windowMs ? state.missing : rescale(policy, state);
  if (missing > most) missing = most;
  // Past 2^53 the product is no longer exact, but then it is far above what is missing.
  const gained = nowMs > state.atMs ? (nowMs - state.atMs) * policy.limit : 0;
  return gained >= missing ? full : full - missing + gained;
}

/** What a state written under another window misses, in the unit of `policy`, rounded up. */
function rescale(policy: Policy, { missing, windowMs }: TokenBucketState): number {
  const permits = Math.floor(missing / windowMs);
  const part = missing - permits * windowMs;
  return permits * policy.windowMs + Math.ceil((part * policy.windowMs) / windowMs);
}

/** True where a bucket at `level` covers `cost` permits. */
export function fits(policy: Policy, level: number, cost: number): boolean {
  return cost === 0 || cost * policy.windowMs <= level;
}

/**
 * The decision on a check of `cost` permits, from the level behind it: what is left after the
 * charge where it fitted, the untouched level where it did not.
 */
export function decide(
  policy: Policy,
  level: number,
  cost: number,
  fits: boolean,
  nowMs: number,
  origin: Origin,
): Decision {
  const { limit, windowMs } = policy;
  const missing = policy.burst * windowMs - level;
  const remaining = level > 0 ? Math.floor(level / windowMs) : 0;
  const never = fits || cost > policy.burst;
  return makeDecision(
    policy,
    fits,
    remaining,
    never ? undefined : Math.ceil((cost * windowMs - level) / limit),
    missing === 0 ? undefined : Math.ceil(((remaining + 1) * windowMs - level) / limit),
    missing === 0 ? 0 : Math.ceil(missing / limit),
    nowMs,
    origin,
  );
}

/** The rules of the token bucket. A view is a level; its one fact is what is missing to full. */
export const tokenBucket: Rules<TokenBucketState, number> = {
  read: levelAt,
  fits,
  charge: (policy, level, cost, nowMs) => stateOf(policy, level - cost * policy.windowMs, nowMs),
  overcharge: (policy, level, permits, nowMs) =>
    stateOf(
      policy,
      Math.max(
        Math.min(level, -policy.overdraft * policy.windowMs),
        level - permits * policy.windowMs,
      ),
      nowMs,
    ),
  giveBack: (policy, level, permits, nowMs) =>
    stateOf(
      policy,
      Math.min(policy.burst * policy.windowMs, level + permits * policy.windowMs),
      nowMs,
    ),
  steppedBack: ({ atMs }, nowMs) => nowMs < atMs,
  restart: (policy, level, nowMs) => stateOf(policy, level, nowMs),
  idleAfterMs: (policy, { missing }) => (missing === 0 ? 0 : Math.ceil(missing / policy.limit)),
  facts: (policy, level) => [policy.burst * policy.windowMs - level],
  factCount: 1,
  decide: (policy, facts, cost, fits, nowMs, origin) =>
    decide(
      policy,
      policy.burst * policy.windowMs - (facts[0] as number),
      cost,
      fits,
      nowMs,
      origin,
    ),
};

function stateOf(policy: Policy, level: number, atMs: number): TokenBucketState {
  const { windowMs } = policy;
  return { missing: policy.burst * windowMs - level, atMs, windowMs, debt: level < 0 };
}

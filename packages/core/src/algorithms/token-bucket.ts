import type { Decision, Origin } from '../decision/decision.js';
import type { Policy } from '../policy/policy.js';

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
 * `store/redis/lua/token-bucket.lua` is the same algorithm, line by line.
 */

/** What a store keeps for one bucket. No state at all means a full bucket. */
export interface TokenBucketState {
  /** Units at `atMs`, from 0 to `burst × windowMs` of the policy that wrote it. */
  level: number;
  /** The store's clock when `level` was true. */
  atMs: number;
  /** The window that gives `level` its unit; another one than the policy's after a change. */
  windowMs: number;
}

/**
 * Units in the bucket at `nowMs`, refilled since `state` was written and capped at a full bucket.
 *
 * A clock that stepped back brings no refill and takes none. After a change of policy the permits
 * that were left stay, up to the new burst.
 */
export function levelAt(
  policy: Policy,
  state: TokenBucketState | undefined,
  nowMs: number,
): number {
  const full = policy.burst * policy.windowMs;
  if (state === undefined) return full;
  const level = state.windowMs === policy.windowMs ? state.level : rescale(policy, state);
  if (level >= full) return full;
  // Past 2^53 the product is no longer exact, but then it is far above what is missing.
  const gained = nowMs > state.atMs ? (nowMs - state.atMs) * policy.limit : 0;
  return gained >= full - level ? full : level + gained;
}

/** The level of a state written under another window, in the unit of `policy`, rounded down. */
function rescale(policy: Policy, state: TokenBucketState): number {
  const permits = Math.floor(state.level / state.windowMs);
  if (permits >= policy.burst) return policy.burst * policy.windowMs;
  const part = state.level - permits * state.windowMs;
  return permits * policy.windowMs + Math.floor((part * policy.windowMs) / state.windowMs);
}

/** True where a bucket at `level` covers `cost` permits. A cost of 0 always fits. */
export function fits(policy: Policy, level: number, cost: number): boolean {
  return cost * policy.windowMs <= level;
}

/** The level after `cost` permits, which fit, were taken. */
export function charge(policy: Policy, level: number, cost: number): number {
  return level - cost * policy.windowMs;
}

/** The level after `cost` permits came back: never above a full bucket. */
export function giveBack(policy: Policy, level: number, cost: number): number {
  return Math.min(policy.burst * policy.windowMs, level + cost * policy.windowMs);
}

/** Time until a bucket at `level` is full; 0 when it is. When it is over, no state is needed. */
export function fullAfterMs(policy: Policy, level: number): number {
  const missing = policy.burst * policy.windowMs - level;
  return missing === 0 ? 0 : Math.ceil(missing / policy.limit);
}

/**
 * The decision on a check of `cost` permits, from the level behind it: what is left after the
 * charge where it was allowed, the untouched level where it was denied.
 */
export function decide(
  policy: Policy,
  level: number,
  cost: number,
  allowed: boolean,
  origin: Origin,
): Decision {
  const { limit, windowMs } = policy;
  const remaining = Math.floor(level / windowMs);
  const resetAfterMs = fullAfterMs(policy, level);
  const noWait = allowed || cost > policy.burst;
  // One shape for all decisions: what reads them stays fast.
  return {
    allowed,
    policy: policy.name,
    limit,
    remaining,
    retryAfterMs: noWait ? undefined : Math.ceil((cost * windowMs - level) / limit),
    refillAfterMs:
      resetAfterMs === 0 ? undefined : Math.ceil(((remaining + 1) * windowMs - level) / limit),
    resetAfterMs,
    origin,
  } as Decision;
}

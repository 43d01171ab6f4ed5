import type { Decision, Origin } from '../decision/decision.js';
import type { LeaseTerms } from '../policy/lease-terms.js';
import type { Policy } from '../policy/policy.js';
import type { Rules } from './algorithm.js';
import { makeDecision } from './make-decision.js';
import { account, grant, nextEpoch, nextLengthMs, type Outstanding, outOf } from './outstanding.js';

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
 *
 * Permits that replicas hold in advance are taken out of the level and kept beside it, and refill
 * never makes up for them: level + out ≤ full at every moment. What can be spent within a time T is
 * then at most what could be spent at its start, level + out, and the refill of T, however late
 * replicas spend what they hold and whenever they say so. Hence the bucket is refilled first, under
 * the cap that held at the time, epoch by epoch, and only then told what was spent or returned:
 * permits that were spent late must not make room for refill from before they were spent.
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
  /** What replicas hold in advance. */
  out: Outstanding | undefined;
}

/** A bucket as it was read. */
interface TokenBucketView {
  readonly level: number;
  readonly out: Outstanding | undefined;
}

/**
 * Units in a bucket at `nowMs` of which nothing is held in advance, refilled since `state` was
 * written and capped at a full bucket; below 0 after a settlement.
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
  const missing = missingOf(policy, state, full);
  const gained = gainedOf(policy, state.atMs, nowMs);
  return gained >= missing ? full : full - missing + gained;
}

/** Units missing to a full bucket of `policy` when `state` was written. */
function missingOf(policy: Policy, state: TokenBucketState, full: number): number {
  const most = state.debt ? full + policy.overdraft * policy.windowMs : full;
  const missing = state.windowMs === policy.windowMs ? state.missing : rescale(policy, state);
  return Math.min(missing, most);
}

/** What a state written under another window misses, in the unit of `policy`, rounded up. */
function rescale(policy: Policy, { missing, windowMs }: TokenBucketState): number {
  const permits = Math.floor(missing / windowMs);
  const part = missing - permits * windowMs;
  return permits * policy.windowMs + Math.ceil((part * policy.windowMs) / windowMs);
}

/** Past 2^53 the product is no longer exact, but then it is far above what can be missing. */
function gainedOf({ limit }: Policy, sinceMs: number, nowMs: number): number {
  return nowMs > sinceMs ? (nowMs - sinceMs) * limit : 0;
}

/** The bucket at `nowMs`, with what is held in advance, refilled epoch by epoch. */
function read(policy: Policy, state: TokenBucketState | undefined, nowMs: number): TokenBucketView {
  if (state?.out === undefined) return { level: levelAt(policy, state, nowMs), out: undefined };
  const full = policy.burst * policy.windowMs;
  let missing = missingOf(policy, state, full);
  let atMs = Math.min(state.atMs, nowMs);
  let out: Outstanding | undefined = shifted(state.out, atMs - state.atMs);
  while (out !== undefined && out.endsAtMs <= nowMs) {
    missing = refill(policy, missing, out, atMs, out.endsAtMs);
    atMs = out.endsAtMs;
    out = nextEpoch(out, nextLengthMs(policy, out));
  }
  return { level: full - refill(policy, missing, out, atMs, nowMs), out };
}

/**
 * What is missing after a refill that leaves room for what is out, at most all of the bucket: also
 * where a smaller burst has made it less meanwhile.
 */
function refill(
  policy: Policy,
  missing: number,
  out: Outstanding | undefined,
  sinceMs: number,
  nowMs: number,
): number {
  const room = Math.min(outOf(out), policy.burst) * policy.windowMs;
  return Math.max(room, missing - gainedOf(policy, sinceMs, nowMs));
}

/** On a clock that stepped back an epoch has as long to go as it had. */
function shifted(out: Outstanding, byMs: number): Outstanding {
  if (byMs === 0) return out;
  return { ...out, sinceMs: out.sinceMs + byMs, endsAtMs: out.endsAtMs + byMs };
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

/** The rules of the token bucket. Its one fact is what is missing to full, in units. */
export const tokenBucket: Rules<TokenBucketState, TokenBucketView> = {
  read,
  fits: (policy, { level }, cost) => fits(policy, level, cost),
  charge: (policy, { level, out }, cost, nowMs) =>
    stateOf(policy, level - cost * policy.windowMs, out, nowMs),
  overcharge: (policy, { level, out }, permits, nowMs) => {
    const lowest = Math.min(level, -policy.overdraft * policy.windowMs);
    return stateOf(policy, Math.max(lowest, level - permits * policy.windowMs), out, nowMs);
  },
  giveBack: (policy, view, permits, nowMs) => putBack(policy, view, view.out, permits, nowMs),
  steppedBack: ({ atMs }, nowMs) => nowMs < atMs,
  restart: (policy, { level, out }, nowMs) => stateOf(policy, level, out, nowMs),
  idleAfterMs: (policy, { missing, out }, nowMs) => {
    const refilledAfterMs = missing === 0 ? 0 : Math.ceil(missing / policy.limit);
    if (out === undefined) return refilledAfterMs;
    return out.endsAtMs + nextLengthMs(policy, out) - nowMs + refilledAfterMs;
  },
  facts: (policy, { level }) => [policy.burst * policy.windowMs - level],
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
  leases: {
    outstanding: ({ out }) => out,
    account: (policy, view, reports, holder, turn, nowMs) => {
      if (view.out === undefined) return stateOf(policy, view.level, undefined, nowMs);
      const { out, young, old } = account(view.out, reports, holder, turn);
      return putBack(policy, view, out, young + old, nowMs);
    },
    grant: (policy, { level, out }, extra, nowMs) => {
      const { share, ttlMs } = policy.lease as LeaseTerms;
      const there = Math.max(0, Math.floor(level / policy.windowMs));
      const permits = Math.max(0, Math.min(extra, there, share - outOf(out)));
      const left = level - permits * policy.windowMs;
      const next = permits === 0 ? out : grant(out, permits, ttlMs, nowMs);
      const epoch = next === undefined ? 0 : next.epoch;
      return [stateOf(policy, left, next, nowMs), { permits, epoch, lifeMs: lifeOf(policy, next) }];
    },
  },
};

/** No longer than the replica's own terms have it, nor than this bucket's epochs. */
function lifeOf({ lease }: Policy, out: Outstanding | undefined): number {
  if (out === undefined || lease === undefined) return 0;
  return Math.min(lease.ttlMs, out.endsAtMs - out.sinceMs);
}

/** Permits come back, up to what `out` leaves of a full bucket. */
function putBack(
  policy: Policy,
  { level }: TokenBucketView,
  out: Outstanding | undefined,
  permits: number,
  nowMs: number,
): TokenBucketState {
  const most = Math.max(0, policy.burst - outOf(out)) * policy.windowMs;
  const back = Math.min(most, level + permits * policy.windowMs);
  return stateOf(policy, Math.max(level, back), out, nowMs);
}

function stateOf(
  policy: Policy,
  level: number,
  out: Outstanding | undefined,
  atMs: number,
): TokenBucketState {
  const { windowMs } = policy;
  return { missing: policy.burst * windowMs - level, atMs, windowMs, debt: level < 0, out };
}

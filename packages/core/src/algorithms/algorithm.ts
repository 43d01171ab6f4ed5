import type { Decision, Origin } from '../decision/decision.js';
import type { Policy } from '../policy/policy.js';
import type { Granted, LeaseReport, Outstanding } from './outstanding.js';

/**
 * One algorithm, as functions of policy, state and time. None reads a clock. No state at all means
 * an untouched bucket: full, with nothing counted.
 *
 * `store/redis/lua/` has the same functions under the same names, and the same arithmetic.
 */
export interface Rules<State, View = State> {
  /**
   * The bucket at `nowMs` under `policy`: refilled, rolled on, and brought to the policy's values
   * where it was written under others. Changes nothing that is stored.
   */
  read(policy: Policy, stored: State | undefined, nowMs: number): View;
  /** True where `cost` permits can be taken. A cost of 0 always can. */
  fits(policy: Policy, view: View, cost: number, nowMs: number): boolean;
  /** The state after `cost` permits, which fit, were taken. */
  charge(policy: Policy, view: View, cost: number, nowMs: number): State;
  /** The state after `permits` were taken whether they fit or not, down to the overdraft. */
  overcharge(policy: Policy, view: View, permits: number, nowMs: number): State;
  /**
   * The state after `permits` came back: never above a full bucket, never into a window they were
   * not taken from.
   * @param takenAtMs when they were taken, by the store's clock; where that is not known, just now
   */
  giveBack(
    policy: Policy,
    view: View,
    permits: number,
    nowMs: number,
    takenAtMs: number | undefined,
  ): State;
  /** True where the clock stepped back behind what was stored. */
  steppedBack(stored: State, nowMs: number): boolean;
  /** The state of a bucket as it was read, on a clock that stepped back: from `nowMs` on. */
  restart(policy: Policy, view: View, nowMs: number): State;
  /** Time until the bucket is the same as an untouched one; 0 when it is. */
  idleAfterMs(policy: Policy, state: State, nowMs: number): number;
  /** What a decision is worked out from: integers, as a script replies them. */
  facts(policy: Policy, view: View, cost: number, nowMs: number): readonly number[];
  /** How many facts there are. */
  readonly factCount: number;
  /** The decision on `cost` permits from the facts behind it; `fits` says whether they were taken. */
  decide(
    policy: Policy,
    facts: readonly number[],
    cost: number,
    fits: boolean,
    nowMs: number,
    origin: Origin,
  ): Decision;
  /** Of an algorithm whose permits can be held in advance. */
  readonly leases?: LeaseRules<State, View>;
}

/** How one algorithm leases its permits. */
export interface LeaseRules<State, View> {
  /** What is out. */
  outstanding(view: View): Outstanding | undefined;
  /** The state after what a holder tells was taken off what is out; what it returns is put back. */
  account(
    policy: Policy,
    view: View,
    reports: readonly LeaseReport[],
    holder: number,
    turn: number,
    nowMs: number,
  ): State;
  /**
   * The state after up to `extra` permits, at least 0, were granted in advance, as far as they are
   * there and the policy's share allows. For a policy that has a lease.
   */
  grant(policy: Policy, view: View, extra: number, nowMs: number): [State, Granted];
}

/** Rules whose states and views only they themselves look into. */
export type AnyRules = Rules<object, unknown>;

import type { Decision, WithoutStore } from '../decision/decision.js';
import type { StoreFault } from '../errors.js';
import type { FallbackMode } from '../policy/fallback-mode.js';
import { type Policy, parsePolicy } from '../policy/policy.js';
import type { MemoryStore } from '../store/memory/memory-store.js';
import type { Charge, Store } from '../store/store.js';
import type { Clock } from '../time/clock.js';
import { type LocalBuckets, localBucketsOf } from './local-buckets.js';
import type { Owed } from './owed.js';
import { isBucket, shareOf } from './share.js';

/** What a client is told to wait for the store where only that can allow its call: it is tried by then. */
const STORE_RETRY_MS = 1000;

/** Most shares that are kept, by policy; apps have tiers, not one for each client. */
const MAX_SHARES = 1000;

/** A charge that is always denied, so that none beside it is charged, and each says whether it fits. */
const NEVER: Charge = {
  policy: parsePolicy('rl.never', { limit: 0, window: '1s' }, 'never'),
  key: 'rl.never',
  cost: 1,
};

/**
 * What this replica decides by itself while the store cannot: by its share of each policy, in a
 * memory of its own.
 *
 * Whenever the store says how much is left of a bucket, the share is set to its part of that. So a
 * store that is lost does not bring clients a second, fresh quota, nor does one that comes and goes;
 * and a moment's silence denies nobody who has plenty left.
 */
export class LocalDecisions {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #mode: FallbackMode;
  #buckets: LocalBuckets | undefined;
  #replicas = 1;
  #shareOfPolicy = new Map<Policy, Policy>();

  /** @param mode of policies that have none of their own */
  constructor(store: Store, clock: Clock, mode: FallbackMode) {
    this.#store = store;
    this.#clock = clock;
    this.#mode = mode;
  }

  /** What was admitted here and the store does not know of. */
  get owed(): Owed {
    return this.#own.owed;
  }

  get replicas(): number {
    return this.#replicas;
  }

  /** How many share the quota: an integer of at least 1. What was spent stays spent. */
  set replicas(replicas: number) {
    this.#replicas = replicas;
    this.#shareOfPolicy = new Map();
  }

  modeOf({ fallback }: Policy): FallbackMode {
    return fallback ?? this.#mode;
  }

  /** Decides all, and charges all or none, as a store does. */
  decide(charges: readonly Charge[], fault: StoreFault): readonly Decision[] {
    const modes = charges.map(({ policy }) => this.modeOf(policy));
    const isClosed = charges.some(
      ({ policy, cost }, i) => modes[i] === 'closed' && cost > 0 && !policy.shadow,
    );
    for (const { policy, key } of charges) this.#recall(policy, key);
    const local = charges.filter((_, i) => modes[i] === 'local');
    const shared = local.map(({ policy, key, cost }) => ({
      policy: this.#shareOf(policy),
      key,
      cost,
    }));
    const decided = this.#shares.tryConsumeAll(isClosed ? [...shared, NEVER] : shared);
    const allowed = decided.every((decision) => decision.allowed);
    const locally = decided.values();
    return charges.map((charge, i) => {
      const { policy, key, cost } = charge;
      const mode = modes[i] as FallbackMode;
      const own = mode === 'local' ? (locally.next().value as Decision) : undefined;
      if (allowed && mode === 'open') this.#spend(charge);
      const look = own ?? this.#shares.tryConsume(this.#shareOf(policy), key, 0);
      const decision = inMode(look, policy, cost, { mode, fault });
      if (allowed && !decision.wouldDeny) this.owed.add(charge);
      return decision;
    });
  }

  /** What `decide` would say of one charge by itself; charges nothing. */
  examine({ policy, key, cost }: Charge, fault: StoreFault): Decision {
    const mode = this.modeOf(policy);
    this.#recall(policy, key);
    const share = this.#shareOf(policy);
    const asked = { policy: share, key, cost: mode === 'local' ? cost : 0 };
    const [decision] = this.#shares.tryConsumeAll([asked, NEVER]);
    return inMode(decision as Decision, policy, cost, { mode, fault });
  }

  /**
   * The store has just said what is left of a bucket. It does not know yet what is owed to it, if
   * anything: then the share knows better.
   */
  learn(policy: Policy, key: string, said: Decision): void {
    if (this.modeOf(policy) === 'closed') return;
    const { left, owed } = this.#own;
    if (!owed.has(policy, key)) left.note(policy, key, said, this.#clock.nowMs());
  }

  /**
   * Puts back what was admitted here.
   * @returns the share then, and how much of it the store has been charged with in the meantime
   */
  async refund(
    { policy, key, cost }: Charge,
    taken: Decision,
  ): Promise<{ decision: Decision; charged: number }> {
    this.#recall(policy, key);
    const charged = this.owed.take({ policy, key, cost });
    const share = this.#shareOf(policy);
    const decision = await this.#shares.refund(share, key, cost, taken.decidedAtMs);
    return { decision: inMode(decision, policy, 0, taken.fallback as WithoutStore), charged };
  }

  /** Takes permits, fit or not. */
  async overcharge(charge: Charge, fault: StoreFault): Promise<Decision> {
    const { policy, key, cost } = charge;
    this.#recall(policy, key);
    this.owed.add(charge);
    const decision = await this.#shares.overcharge(this.#shareOf(policy), key, cost);
    return inMode(decision, policy, 0, { mode: this.modeOf(policy), fault });
  }

  /**
   * What the store is to be charged for a bucket, which is not owed to it from now on: no more than
   * the share still misses, since what that has refilled, the store's bucket has as well.
   */
  due(policy: Policy, key: string): number {
    const owed = this.owed.clear(policy, key);
    if (owed === 0 || this.modeOf(policy) === 'closed') return owed;
    // A share that became smaller meanwhile still misses what was spent of the larger one.
    const { burst, overdraft, limit } = policy;
    const spent = { ...this.#shareOf(policy), burst, overdraft };
    const share = isBucket(policy) ? spent : { ...spent, limit };
    return Math.min(owed, missing(share, this.#shares.tryConsume(share, key, 0)));
  }

  get nowMs(): number {
    return this.#clock.nowMs();
  }

  /** The store has been charged with what was owed to a bucket at `atMs`. */
  paid(policy: Policy, key: string, atMs: number, decidedAtMs: number): void {
    this.#own.payments.note(policy, key, atMs, decidedAtMs);
  }

  /** When the store was charged with what was admitted here, by its clock, where that is known. */
  chargedAtMs({ policy, key }: Charge, { decidedAtMs }: Decision): number | undefined {
    return this.#own.payments.chargedAtMs(policy, key, decidedAtMs);
  }

  /** Forgets what was charged to a bucket. */
  reset(policy: Policy, key: string): void {
    this.#own.left.take(policy, key);
    this.owed.clear(policy, key);
    void this.#shares.reset(policy, key);
  }

  /** Asked for when it is first needed: of a store in memory that is never. */
  get #own(): LocalBuckets {
    this.#buckets ??= localBucketsOf(this.#store, this.#clock);
    return this.#buckets;
  }

  get #shares(): MemoryStore {
    return this.#own.shares;
  }

  /**
   * Sets the share to its part of what the store said last, as of then; where a window is counted, or
   * each call, as of when all of that was spent at the latest, so that it comes back no later.
   */
  #recall(policy: Policy, key: string): void {
    const said = this.#own.left.take(policy, key);
    if (said === undefined) return;
    const share = this.#shareOf(policy);
    const replicas = this.modeOf(policy) === 'local' ? this.#replicas : 1;
    const part = Math.min(Math.floor(said.remaining / replicas), share.burst);
    const own = said.resetAfterMs === 0 ? share.burst : part;
    const isAnew = policy.algorithm === 'fixed-window' || policy.algorithm === 'sliding-log';
    const spentForMs = isAnew ? Math.max(0, policy.windowMs - said.resetAfterMs) : 0;
    this.#own.inThePast(said.atMs - spentForMs, () => {
      if (isAnew) void this.#shares.reset(share, key);
      const { remaining } = this.#shares.tryConsume(share, key, 0);
      if (remaining > own) this.#shares.tryConsume(share, key, remaining - own);
      else if (remaining < own) void this.#shares.refund(share, key, own - remaining, undefined);
    });
  }

  /** Takes what there is of a cost. */
  #spend({ policy, key, cost }: Charge): void {
    const share = this.#shareOf(policy);
    const { remaining } = this.#shares.tryConsume(share, key, 0);
    this.#shares.tryConsume(share, key, Math.min(cost, remaining));
  }

  #shareOf(policy: Policy): Policy {
    const known = this.#shareOfPolicy.get(policy);
    if (known !== undefined) return known;
    if (this.#shareOfPolicy.size >= MAX_SHARES) this.#shareOfPolicy = new Map();
    const share = shareOf(policy, this.modeOf(policy) === 'local' ? this.#replicas : 1);
    this.#shareOfPolicy.set(policy, share);
    return share;
  }
}

/** Permits that a share is short of, rounded up; what it is below zero only where it is a bucket. */
function missing(share: Policy, { remaining, resetAfterMs }: Decision): number {
  if (!isBucket(share)) return share.burst - remaining;
  return Math.ceil((resetAfterMs * share.limit) / share.windowMs);
}

/** A decision by a share, as the policy's: told in its values, and denied where it is closed. */
function inMode(
  decision: Decision,
  policy: Policy,
  cost: number,
  fallback: WithoutStore,
): Decision {
  const { limit, windowMs, shadow } = policy;
  const told = { ...decision, limit, windowMs, origin: 'fallback', fallback } as const;
  if (fallback.mode !== 'closed') {
    if (told.allowed || told.retryAfterMs !== undefined || cost > policy.burst) return told;
    // It is more than the share, and not more than the store can allow.
    return { ...told, retryAfterMs: STORE_RETRY_MS } as Decision;
  }
  const unknown = { ...told, remaining: 0, refillAfterMs: STORE_RETRY_MS };
  if (cost === 0) return unknown;
  if (shadow) return { ...unknown, wouldDeny: true } as Decision;
  return { ...unknown, allowed: false, retryAfterMs: STORE_RETRY_MS } as Decision;
}

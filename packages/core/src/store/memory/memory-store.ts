import type { AnyRules } from '../../algorithms/algorithm.js';
import { isNew, outOf } from '../../algorithms/outstanding.js';
import { RULES } from '../../algorithms/rules.js';
import { decide, fits, levelAt, type TokenBucketState } from '../../algorithms/token-bucket.js';
import { checkInteger } from '../../arith/integers.js';
import type { Decision } from '../../decision/decision.js';
import { checkOptionNames, closed, invalidType, notLeased } from '../../errors.js';
import { boundPartitionKey } from '../../key/partition-key.js';
import type { StoreMetrics } from '../../metrics/store-metrics.js';
import type { Policy } from '../../policy/policy.js';
import { type Clock, monotonicClock } from '../../time/clock.js';
import type { Charge, Claim, Examination, Grant, Store } from '../store.js';
import { startSweeper } from '../sweeper.js';
import { type Bucket, BucketTable } from './bucket-table.js';

export interface MemoryStoreOptions {
  /**
   * Most buckets kept for each policy: an integer, at least 1. Default 100,000, which is about 20 MB
   * with keys of some 20 characters and at most about 60 MB with the longest; a sliding log adds up
   * to 32 bytes for each call of its window. Where a policy has more, the fullest are forgotten first.
   */
  maxKeys?: number;
  /** For tests. Default: this process's monotonic clock. */
  clock?: Clock;
}

/** How often buckets that are full again are forgotten. */
const SWEEP_EVERY_MS = 1000;

/** A bucket that was looked up. */
interface Found {
  readonly table: BucketTable;
  readonly key: string;
  readonly bucket: Bucket | undefined;
  readonly rules: AnyRules;
  /** The bucket as its rules read it. */
  readonly view: unknown;
}

/**
 * Buckets in this process's memory: exact for one replica, unknown to others. Every decision is
 * made at once.
 */
export class MemoryStore implements Store {
  readonly #tables = new Map<string, BucketTable>();
  readonly #clock: Clock;
  readonly #maxKeys: number;
  readonly #stopSweeper: () => void;
  readonly metrics: StoreMetrics;
  /** Of the latest check: most are of the same policy as the one before. */
  #lastPolicy: Policy | undefined;
  #lastTable: BucketTable;
  #closed = false;

  constructor(options: MemoryStoreOptions = {}) {
    if (typeof options !== 'object' || options === null) {
      throw invalidType('options', 'an object', options);
    }
    checkOptionNames('', options, ['maxKeys', 'clock']);
    if (options.clock !== undefined && typeof options.clock?.nowMs !== 'function') {
      throw invalidType('clock', 'an object with nowMs()', options.clock);
    }
    this.#maxKeys = checkInteger('maxKeys', options.maxKeys ?? 100_000, 1);
    this.#clock = options.clock ?? monotonicClock;
    this.#lastTable = new BucketTable(this.#maxKeys);
    this.#stopSweeper = startSweeper(this, SWEEP_EVERY_MS);
    this.metrics = countsOf(this);
  }

  /** Buckets held at present, over all policies. */
  get size(): number {
    return this.#sum((table) => table.size);
  }

  /** Buckets forgotten before they were full, for want of room. It only rises. */
  get evicted(): number {
    return this.#sum((table) => table.evicted);
  }

  tryConsume(policy: Policy, partitionKey: string, cost: number): Decision {
    if (policy.algorithm !== 'token-bucket') {
      return this.#decideOne(policy, partitionKey, cost, this.#now());
    }
    // The rules of the token bucket once more, without the objects between them: most calls are
    // these. The random histories hold both ways to the same decisions.
    if (this.#closed) throw closed('store');
    const nowMs = this.#clock.nowMs();
    const table = this.#tableOf(policy);
    const key = boundPartitionKey(partitionKey);
    const bucket = table.get(key, nowMs);
    const state = bucket?.state as TokenBucketState | undefined;
    if (state?.out !== undefined) return this.#decideOne(policy, partitionKey, cost, nowMs);
    const level = levelAt(policy, state, nowMs);
    const fitted = fits(policy, level, cost);
    const left = fitted ? level - cost * policy.windowMs : level;
    const decision = decide(policy, left, cost, fitted, nowMs, 'memory');
    if (cost > 0 && (fitted || (state !== undefined && nowMs < state.atMs))) {
      const { windowMs } = policy;
      const { resetAfterMs, remaining } = decision;
      const spent = remaining * 2 < policy.burst;
      if (state === undefined || resetAfterMs === 0) {
        const missing = policy.burst * windowMs - left;
        const next = { missing, atMs: nowMs, windowMs, debt: left < 0, out: undefined };
        table.put(key, bucket, next, nowMs, resetAfterMs, spent);
      } else {
        state.missing = policy.burst * windowMs - left;
        state.atMs = nowMs;
        state.windowMs = windowMs;
        state.debt = left < 0;
        const held = bucket as Bucket;
        held.idleAtMs = nowMs + resetAfterMs;
        if (held.spent !== spent) table.move(held, spent);
      }
    }
    return decision;
  }

  async consume(policy: Policy, key: string, cost: number): Promise<Decision> {
    return this.tryConsume(policy, key, cost);
  }

  tryConsumeAll(charges: readonly Charge[]): readonly Decision[] {
    return this.#decideAll(charges, this.#now());
  }

  async consumeAll(charges: readonly Charge[]): Promise<readonly Decision[]> {
    return this.tryConsumeAll(charges);
  }

  async claim(claim: Claim): Promise<Grant | undefined> {
    const { policy, key, holder, turn, reports, costs, extra } = claim;
    const nowMs = this.#now();
    const { rules, view } = this.#find(policy, key, nowMs);
    const { leases } = rules;
    if (policy.lease === undefined || leases === undefined) throw notLeased(policy);
    if (!isNew(leases.outstanding(view), holder, turn)) return undefined;
    const change = (to: (view: unknown) => object) => {
      const found = this.#find(policy, key, nowMs);
      return this.#write(policy, found, to(found.view), nowMs);
    };
    if (reports.length > 0) {
      change((view) => leases.account(policy, view, reports, holder, turn, nowMs));
    }
    const decisions = costs.map((cost) => this.#decideOne(policy, key, cost, nowMs));
    const [state, granted] = leases.grant(
      policy,
      this.#find(policy, key, nowMs).view,
      extra,
      nowMs,
    );
    if (granted.permits > 0) change(() => state);
    const { view: after } = this.#find(policy, key, nowMs);
    return { decisions, ...granted, left: this.#look(policy, rules, after, nowMs) };
  }

  async refund(
    policy: Policy,
    partitionKey: string,
    permits: number,
    takenAtMs: number | undefined,
  ): Promise<Decision> {
    return this.#change(policy, partitionKey, permits, (rules, view, nowMs) =>
      rules.giveBack(policy, view, permits, nowMs, takenAtMs),
    );
  }

  async overcharge(policy: Policy, partitionKey: string, permits: number): Promise<Decision> {
    return this.#change(policy, partitionKey, permits, (rules, view, nowMs) =>
      rules.overcharge(policy, view, permits, nowMs),
    );
  }

  async examine(policy: Policy, key: string, cost: number): Promise<Examination> {
    const nowMs = this.#now();
    const { rules, view } = this.#find(policy, key, nowMs);
    const fits = rules.fits(policy, view, cost, nowMs);
    const facts = rules.facts(policy, view, cost, nowMs);
    const decision = rules.decide(policy, facts, cost, fits, nowMs, 'memory');
    return { decision, out: outOf(rules.leases?.outstanding(view)) };
  }

  async reset(policy: Policy, key: string): Promise<void> {
    if (this.#closed) throw closed('store');
    this.#tableOf(policy).delete(boundPartitionKey(key));
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopSweeper();
    this.#tables.clear();
    this.#lastPolicy = undefined;
  }

  /** Forgets the full ones among the next `count` buckets of each policy. */
  sweep(count: number): void {
    const nowMs = this.#clock.nowMs();
    for (const table of this.#tables.values()) table.sweep(nowMs, count);
  }

  #decideAll(charges: readonly Charge[], nowMs: number): readonly Decision[] {
    const found = charges.map(({ policy, key }) => this.#find(policy, key, nowMs));
    const fitting = charges.map(({ policy, cost }, i) => {
      const { rules, view } = found[i] as Found;
      return rules.fits(policy, view, cost, nowMs);
    });
    const allowed = charges.every(({ policy }, i) => fitting[i] || policy.shadow);
    return charges.map((charge, i) =>
      this.#conclude(charge, found[i] as Found, fitting[i] as boolean, allowed, nowMs),
    );
  }

  #decideOne(policy: Policy, key: string, cost: number, nowMs: number): Decision {
    return this.#decideAll([{ policy, key, cost }], nowMs)[0] as Decision;
  }

  /** Charges where all is allowed and this one fits, and answers. */
  #conclude(
    { policy, cost }: Charge,
    found: Found,
    fitting: boolean,
    allowed: boolean,
    nowMs: number,
  ): Decision {
    const { rules, bucket } = found;
    let { view } = found;
    if (cost > 0 && fitting && allowed) {
      view = this.#write(policy, found, rules.charge(policy, view, cost, nowMs), nowMs);
    } else if (cost > 0 && bucket !== undefined && rules.steppedBack(bucket.state, nowMs)) {
      // A clock that stepped back starts anew from here, else its clients would wait it out.
      view = this.#write(policy, found, rules.restart(policy, view, nowMs), nowMs);
    }
    const facts = rules.facts(policy, view, cost, nowMs);
    return rules.decide(policy, facts, cost, fitting, nowMs, 'memory');
  }

  #change(
    policy: Policy,
    partitionKey: string,
    permits: number,
    change: (rules: AnyRules, view: unknown, nowMs: number) => object,
  ): Decision {
    const nowMs = this.#now();
    const found = this.#find(policy, partitionKey, nowMs);
    const { rules } = found;
    const view =
      permits > 0
        ? this.#write(policy, found, change(rules, found.view, nowMs), nowMs)
        : found.view;
    return this.#look(policy, rules, view, nowMs);
  }

  /** Writes a state, and gives what reading it gives. */
  #write(
    policy: Policy,
    { table, key, bucket, rules }: Found,
    state: object,
    nowMs: number,
  ): unknown {
    const view = rules.read(policy, state, nowMs);
    const { remaining } = this.#look(policy, rules, view, nowMs);
    const idleAfterMs = rules.idleAfterMs(policy, state, nowMs);
    table.put(key, bucket, state, nowMs, idleAfterMs, remaining * 2 < policy.burst);
    return view;
  }

  #look(policy: Policy, rules: AnyRules, view: unknown, nowMs: number): Decision {
    return rules.decide(policy, rules.facts(policy, view, 0, nowMs), 0, true, nowMs, 'memory');
  }

  #find(policy: Policy, partitionKey: string, nowMs: number): Found {
    const table = this.#tableOf(policy);
    const key = boundPartitionKey(partitionKey);
    const bucket = table.get(key, nowMs);
    const rules = RULES[policy.algorithm];
    return { table, key, bucket, rules, view: rules.read(policy, bucket?.state, nowMs) };
  }

  #now(): number {
    if (this.#closed) throw closed('store');
    return this.#clock.nowMs();
  }

  /** A name may be used with several algorithms, one after the other: their states differ. */
  #tableOf(policy: Policy): BucketTable {
    return policy === this.#lastPolicy ? this.#lastTable : this.#lookUpTable(policy);
  }

  #lookUpTable(policy: Policy): BucketTable {
    const name = `${policy.name}:${policy.algorithm}`;
    const table = this.#tables.get(name) ?? new BucketTable(this.#maxKeys);
    this.#tables.set(name, table);
    this.#lastPolicy = policy;
    this.#lastTable = table;
    return table;
  }

  #sum(count: (table: BucketTable) => number): number {
    let sum = 0;
    for (const table of this.#tables.values()) sum += count(table);
    return sum;
  }
}

/** Read anew each time. */
function countsOf(store: MemoryStore): StoreMetrics {
  return {
    get keys() {
      return store.size;
    },
    get evicted() {
      return store.evicted;
    },
  };
}

/** A new store in memory: the default of every limiter. */
export function memoryStore(options?: MemoryStoreOptions): MemoryStore {
  return new MemoryStore(options);
}

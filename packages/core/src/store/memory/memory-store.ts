import { charge, decide, fits, giveBack, levelAt } from '../../algorithms/token-bucket.js';
import { checkInteger } from '../../arith/integers.js';
import type { Decision } from '../../decision/decision.js';
import { checkOptionNames, closed } from '../../errors.js';
import { boundPartitionKey } from '../../key/partition-key.js';
import type { Policy } from '../../policy/policy.js';
import { type Clock, monotonicClock } from '../../time/clock.js';
import type { Store } from '../store.js';
import { BucketTable, isFull } from './bucket-table.js';
import { startSweeper } from './sweeper.js';

export interface MemoryStoreOptions {
  /**
   * Most buckets kept for each policy: an integer, at least 1. Default 100,000 (about 20 MB).
   * Where a policy has more, those nearest to full are forgotten first.
   */
  maxKeys?: number;
  /** For tests. Default: this process's monotonic clock. */
  clock?: Clock;
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
  /** Of the latest check: most are of the same policy as the one before. */
  #lastPolicy: Policy | undefined;
  #lastTable: BucketTable;
  #closed = false;

  constructor(options: MemoryStoreOptions = {}) {
    checkOptionNames('', options, ['maxKeys', 'clock']);
    this.#maxKeys = checkInteger('maxKeys', options.maxKeys ?? 100_000, 1);
    this.#clock = options.clock ?? monotonicClock;
    this.#lastTable = new BucketTable(this.#maxKeys);
    this.#stopSweeper = startSweeper(this);
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
    if (this.#closed) throw closed('store');
    const nowMs = this.#clock.nowMs();
    const table = policy === this.#lastPolicy ? this.#lastTable : this.#tableOf(policy);
    const key = boundPartitionKey(partitionKey);
    const found = table.get(key);
    const state = found === undefined || isFull(found, nowMs) ? undefined : found;
    const level = levelAt(policy, state, nowMs);
    const allowed = fits(policy, level, cost);
    const left = allowed ? charge(policy, level, cost) : level;
    const decision = decide(policy, left, cost, allowed, 'memory');
    // A look and a denial change nothing. But a clock that stepped back starts anew from here, else
    // its clients would have to wait out the whole step.
    const steppedBack = state !== undefined && nowMs < state.atMs;
    if (cost > 0 && (allowed || steppedBack)) {
      table.put(policy, key, found, left, nowMs, decision.resetAfterMs);
    }
    return decision;
  }

  async consume(policy: Policy, key: string, cost: number): Promise<Decision> {
    return this.tryConsume(policy, key, cost);
  }

  async refund(policy: Policy, partitionKey: string, cost: number): Promise<Decision> {
    if (this.#closed) throw closed('store');
    const nowMs = this.#clock.nowMs();
    const key = boundPartitionKey(partitionKey);
    const table = this.#tables.get(policy.name);
    const found = table?.get(key);
    const state = found === undefined || isFull(found, nowMs) ? undefined : found;
    const level = giveBack(policy, levelAt(policy, state, nowMs), cost);
    const decision = decide(policy, level, 0, true, 'memory');
    if (cost > 0) table?.put(policy, key, found, level, nowMs, decision.resetAfterMs);
    return decision;
  }

  async reset(policy: Policy, key: string): Promise<void> {
    this.#tables.get(policy.name)?.delete(boundPartitionKey(key));
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

  #tableOf(policy: Policy): BucketTable {
    const table = this.#tables.get(policy.name) ?? new BucketTable(this.#maxKeys);
    this.#tables.set(policy.name, table);
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

/** A new store in memory: the default of every limiter. */
export function memoryStore(options?: MemoryStoreOptions): MemoryStore {
  return new MemoryStore(options);
}

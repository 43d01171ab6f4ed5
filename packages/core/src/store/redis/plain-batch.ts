import { decide } from '../../algorithms/token-bucket.js';
import type { Decision } from '../../decision/decision.js';
import type { Policy } from '../../policy/policy.js';
import { type Batch, type Call, MAX_CHECKS, MAX_KEYS } from './batch.js';
import { ReplyReader } from './reply-reader.js';

/** One check that waits for its decision. */
export interface PlainCheck {
  /** At least 0. */
  readonly cost: number;
  resolve(decision: Decision): void;
  reject(error: Error): void;
  /** The next check of the same bucket, once there is one. */
  next: PlainCheck | undefined;
}

/** The checks of one bucket, in the order they were made. */
interface Entry {
  readonly first: PlainCheck;
  last: PlainCheck;
}

/** Checks of one bucket and one cost in a row: `first` and those behind it. */
interface Run {
  readonly policy: Policy;
  readonly first: PlainCheck;
  readonly count: number;
}

/** What became of a run. */
interface Outcome {
  /** How many of its checks fitted: the first ones. */
  readonly fitted: number;
  /** Units missing to a full bucket behind it. */
  readonly missing: number;
}

/**
 * Checks of one token bucket each that go out together: what most calls are. Several checks of one
 * bucket are one entry, and those of the same cost in a row are one run of it: the server works
 * once for all of them.
 */
export class PlainBatch implements Batch {
  readonly script = 'plainChecks';
  readonly #buckets = new Map<Policy, Map<string, Entry>>();
  readonly #runs: Run[] = [];
  #outcomes: readonly Outcome[] = [];
  #nowMs = 0;
  /** How many buckets it has. */
  #keys = 0;
  #checks = 0;

  get isFull(): boolean {
    return this.#keys >= MAX_KEYS || this.#checks >= MAX_CHECKS;
  }

  get size(): number {
    return this.#checks;
  }

  get keyCount(): number {
    return this.#keys;
  }

  apart(): readonly PlainBatch[] {
    return [...this.#buckets].flatMap(([policy, entries]) =>
      [...entries].map(([partitionKey, entry]) => {
        const one = new PlainBatch();
        one.#buckets.set(policy, new Map([[partitionKey, entry]]));
        one.#keys = 1;
        one.#checks = lengthOf(entry.first);
        return one;
      }),
    );
  }

  /** False, having added nothing, where the bucket is here already under other policy values. */
  add(policy: Policy, partitionKey: string, check: PlainCheck): boolean {
    const entries = this.#buckets.get(policy);
    const entry = entries?.get(partitionKey);
    if (entry !== undefined) {
      entry.last.next = check;
      entry.last = check;
      this.#checks++;
      return true;
    }
    if (this.#buckets.size > 0 && this.#isTaken(policy, partitionKey)) return false;
    const first = { first: check, last: check };
    if (entries === undefined) this.#buckets.set(policy, new Map([[partitionKey, first]]));
    else entries.set(partitionKey, first);
    this.#keys++;
    this.#checks++;
    return true;
  }

  /** True where another policy of this name has a check of the same bucket here. */
  #isTaken(policy: Policy, partitionKey: string): boolean {
    for (const [other, entries] of this.#buckets) {
      if (other !== policy && other.name === policy.name && entries.has(partitionKey)) return true;
    }
    return false;
  }

  /**
   * The call to make, once, when all checks are in.
   * @param keyOf makes the bucket key of a policy and a partition key
   */
  call(keyOf: (policy: Policy, partitionKey: string) => string): Call {
    const keys: string[] = [];
    const policies: number[] = [];
    const asked: number[] = [];
    let plain = this.#buckets.size === 1;
    let index = 0;
    for (const [policy, entries] of this.#buckets) {
      const { limit, windowMs, burst, overdraft, lease } = policy;
      policies.push(limit, windowMs, burst, overdraft, lease?.ttlMs ?? 0);
      index++;
      for (const [partitionKey, { first }] of entries) {
        keys.push(keyOf(policy, partitionKey));
        const runs = runsOf(policy, first);
        plain &&= first.cost === 1 && first.next === undefined;
        asked.push(index, runs.length);
        for (const run of runs) {
          asked.push(run.first.cost, run.count);
          this.#runs.push(run);
        }
      }
    }
    return { keys, args: [plain ? '' : JSON.stringify(asked), ...withoutDefaults(policies)] };
  }

  read(reply: unknown): number {
    const reader = new ReplyReader(reply);
    this.#nowMs = reader.next();
    let charged = 0;
    this.#outcomes = this.#runs.map(({ first, count }) => {
      const outcome = outcomeOf(reader, count);
      if (first.cost > 0) charged += outcome.fitted;
      return outcome;
    });
    reader.end();
    return charged;
  }

  tell(): void {
    for (let i = 0; i < this.#outcomes.length; i++) {
      answer(this.#runs[i] as Run, this.#outcomes[i] as Outcome, this.#nowMs);
    }
  }

  fail(error: Error): void {
    for (const entries of this.#buckets.values()) {
      for (const { first } of entries.values()) {
        for (let check: PlainCheck | undefined = first; check !== undefined; check = check.next) {
          check.reject(error);
        }
      }
    }
  }
}

/** Leaves out of the last policy what the script takes it to be: every argument has its price. */
function withoutDefaults(policies: readonly number[]): readonly number[] {
  const [limit, , burst, overdraft, ttlMs] = policies.slice(-5);
  if (ttlMs !== 0) return policies;
  if (overdraft !== burst) return policies.slice(0, -1);
  return policies.slice(0, burst === limit ? -3 : -2);
}

function lengthOf(first: PlainCheck): number {
  let length = 0;
  for (let check: PlainCheck | undefined = first; check !== undefined; check = check.next) length++;
  return length;
}

/** A bucket's checks in runs of one cost. */
function runsOf(policy: Policy, first: PlainCheck): Run[] {
  const runs: Run[] = [];
  for (let check: PlainCheck | undefined = first; check !== undefined; ) {
    let count = 1;
    let after: PlainCheck | undefined = check.next;
    while (after !== undefined && after.cost === check.cost) {
      count++;
      after = after.next;
    }
    runs.push({ policy, first: check, count });
    check = after;
  }
  return runs;
}

/** What became of a run of `count` checks. */
function outcomeOf(reader: ReplyReader, count: number): Outcome {
  const number = reader.next();
  if (number >= 0) return { fitted: count, missing: number };
  return { fitted: count > 1 ? reader.next() : 0, missing: -1 - number };
}

/** The first `fitted` were charged one by one, down to `missing`; the others found it so. */
function answer({ policy, first, count }: Run, { fitted, missing }: Outcome, nowMs: number): void {
  const { cost } = first;
  const level = policy.burst * policy.windowMs - missing;
  let check = first;
  for (let i = 0; i < count; i++) {
    const chargedAfter = i < fitted ? cost * (fitted - 1 - i) * policy.windowMs : 0;
    check.resolve(decide(policy, level + chargedAfter, cost, i < fitted, nowMs, 'store'));
    check = check.next as PlainCheck;
  }
}

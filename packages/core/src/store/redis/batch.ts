import { decide } from '../../algorithms/token-bucket.js';
import type { Decision } from '../../decision/decision.js';
import type { Policy } from '../../policy/policy.js';

/** One check that waits for its decision. A cost below 0 is a refund. */
export interface Check {
  readonly cost: number;
  resolve(decision: Decision): void;
  reject(error: Error): void;
  /** The next check of the same bucket, once there is one. */
  next: Check | undefined;
}

/** The checks of one bucket, in the order they were made. */
interface Entry {
  readonly first: Check;
  last: Check;
}

/** Checks of one bucket and one cost in a row: `first` and those behind it. */
interface Run {
  readonly policy: Policy;
  readonly first: Check;
  readonly count: number;
}

/** What became of a run. */
interface Outcome {
  /** How many of its checks: the first ones. */
  readonly allowed: number;
  /** Units in the bucket behind it. */
  readonly level: number;
}

/** What goes out as one call of the script. */
export interface Call {
  /** The bucket keys, each once. */
  readonly keys: string[];
  /** ARGV, as the script's header has it. */
  readonly args: (string | number)[];
}

/**
 * Checks that go out together. Several checks of one bucket are one entry, and those of the same
 * cost in a row are one run of it: the server works once for all of them.
 *
 * Policies are told apart by identity: two of one name must not come into one batch, as they would
 * be two entries of one bucket.
 */
export class Batch {
  readonly #buckets = new Map<Policy, Map<string, Entry>>();
  readonly #runs: Run[] = [];
  #size = 0;

  /** How many buckets it has. */
  get size(): number {
    return this.#size;
  }

  add(policy: Policy, partitionKey: string, check: Check): void {
    let entries = this.#buckets.get(policy);
    if (entries === undefined) {
      entries = new Map();
      this.#buckets.set(policy, entries);
    }
    const entry = entries.get(partitionKey);
    if (entry === undefined) {
      entries.set(partitionKey, { first: check, last: check });
      this.#size++;
    } else {
      entry.last.next = check;
      entry.last = check;
    }
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
      policies.push(policy.limit, policy.windowMs, policy.burst);
      index++;
      for (const [partitionKey, { first }] of entries) {
        keys.push(keyOf(policy, partitionKey));
        const runs = runsOf(policy, first);
        plain &&= first.cost === 1 && first.next === undefined;
        asked.push(index, runs.length);
        for (const run of runs) asked.push(run.first.cost, run.count);
        this.#runs.push(...runs);
      }
    }
    return { keys, args: [index, ...policies, plain ? '' : JSON.stringify(asked)] };
  }

  /**
   * Answers every check from the script's reply.
   * @throws TypeError, having answered none, where the reply is not of its form
   */
  settle(reply: unknown): void {
    const reader = new ReplyReader(reply);
    const outcomes = this.#runs.map(({ count }) => reader.outcome(count));
    reader.end();
    for (let i = 0; i < outcomes.length; i++) {
      answer(this.#runs[i] as Run, outcomes[i] as Outcome);
    }
  }

  fail(error: Error): void {
    for (const { first, count } of this.#runs) {
      let check = first;
      for (let i = 0; i < count; i++) {
        check.reject(error);
        check = check.next as Check;
      }
    }
  }
}

/** A bucket's checks in runs of one cost. A refund is a run of its own. */
function runsOf(policy: Policy, first: Check): Run[] {
  const runs: Run[] = [];
  for (let check: Check | undefined = first; check !== undefined; ) {
    let count = 1;
    let after: Check | undefined = check.next;
    while (after !== undefined && after.cost === check.cost && check.cost >= 0) {
      count++;
      after = after.next;
    }
    runs.push({ policy, first: check, count });
    check = after;
  }
  return runs;
}

/**
 * The first `allowed` of the run were charged one by one, down to `level`; the others found it so.
 */
function answer({ policy, first, count }: Run, { allowed, level }: Outcome): void {
  const { cost } = first;
  let check = first;
  for (let i = 0; i < count; i++) {
    const chargedAfter = i < allowed ? cost * (allowed - 1 - i) * policy.windowMs : 0;
    check.resolve(decide(policy, level + chargedAfter, cost, i < allowed, 'store'));
    check = check.next as Check;
  }
}

/** Reads the script's reply from front to back. */
class ReplyReader {
  readonly #numbers: readonly unknown[];
  #at = 0;

  constructor(reply: unknown) {
    if (!Array.isArray(reply)) throw new TypeError("the script's reply is not an array");
    this.#numbers = reply;
  }

  /** What became of a run of `count` checks. */
  outcome(count: number): Outcome {
    const number = this.#next();
    if (number >= 0) return { allowed: count, level: number };
    return { allowed: count > 1 ? this.#next() : 0, level: -1 - number };
  }

  end(): void {
    if (this.#at < this.#numbers.length) throw new TypeError("the script's reply is too long");
  }

  #next(): number {
    const number = this.#numbers[this.#at++];
    if (typeof number === 'number' && Number.isSafeInteger(number)) return number;
    throw new TypeError("the script's reply is not the integers that were asked for");
  }
}

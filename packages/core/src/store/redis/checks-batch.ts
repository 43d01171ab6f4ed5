import { RULES } from '../../algorithms/rules.js';
import type { Decision } from '../../decision/decision.js';
import { ALGORITHMS, type Policy, samePolicy } from '../../policy/policy.js';
import type { Charge } from '../store.js';
import { type Batch, type Call, MAX_CHECKS, MAX_KEYS } from './batch.js';
import { ReplyReader } from './reply-reader.js';

/** By the numbers the script has for them. */
const WHAT = { consume: 1, look: 2, refund: 3, overcharge: 4, reset: 5 } as const;

/** Something asked of one or several buckets, that waits for its answer. */
export interface Question {
  readonly what: keyof typeof WHAT;
  /** One, unless `what` is `consume` or `look`; its cost is the permits of a refund or overcharge. */
  readonly charges: readonly Charge[];
  /** Of a refund: when the permits were taken, by the store's clock. */
  readonly takenAtMs: number | undefined;
  resolve(decisions: readonly Decision[]): void;
  reject(error: Error): void;
}

/** Checks of any kind that go out together. */
export class ChecksBatch implements Batch {
  readonly script = 'checks';
  /** By name and partition key: the policy, and the index of the bucket's key. */
  readonly #buckets = new Map<string, { policy: Policy; key: string; index: number }>();
  readonly #questions: Question[] = [];

  get isFull(): boolean {
    return this.#buckets.size >= MAX_KEYS || this.#questions.length >= MAX_CHECKS;
  }

  /** False, having added nothing, where a bucket is here already under other policy values. */
  add(question: Question): boolean {
    const isTaken = ({ policy, key }: Charge) => {
      const held = this.#buckets.get(idOf(policy, key))?.policy;
      return held !== undefined && held !== policy && !samePolicy(held, policy);
    };
    if (question.charges.some(isTaken)) return false;
    for (const { policy, key } of question.charges) {
      const id = idOf(policy, key);
      if (this.#buckets.has(id)) continue;
      this.#buckets.set(id, { policy, key, index: this.#buckets.size + 1 });
    }
    this.#questions.push(question);
    return true;
  }

  call(keyOf: (policy: Policy, partitionKey: string) => string): Call {
    const buckets = [...this.#buckets.values()];
    const policies = [...new Set(buckets.map(({ policy }) => policy))];
    const numbers = [
      policies.length,
      ...policies.flatMap((policy) => [
        ALGORITHMS.indexOf(policy.algorithm) + 1,
        policy.limit,
        policy.windowMs,
        policy.burst,
        policy.overdraft,
      ]),
      ...buckets.map(({ policy }) => policies.indexOf(policy) + 1),
      ...this.#questions.flatMap((question) => this.#numbersOf(question)),
    ];
    const keys = buckets.map(({ policy, key }) => keyOf(policy, key));
    return { keys, args: [JSON.stringify(numbers)] };
  }

  settle(reply: unknown): void {
    const reader = new ReplyReader(reply);
    const nowMs = reader.next();
    const answers = this.#questions.map((question) => readAnswer(reader, question, nowMs));
    reader.end();
    this.#questions.forEach(({ resolve }, i) => {
      resolve(answers[i] as Decision[]);
    });
  }

  fail(error: Error): void {
    for (const { reject } of this.#questions) reject(error);
  }

  #numbersOf({ what, charges, takenAtMs }: Question): number[] {
    const indexOf = ({ policy, key }: Charge): number =>
      this.#buckets.get(idOf(policy, key))?.index as number;
    if (what === 'consume' || what === 'look') {
      const parts = charges.flatMap((charge) => [
        indexOf(charge),
        charge.cost,
        charge.policy.shadow ? 1 : 0,
      ]);
      return [WHAT[what], charges.length, ...parts];
    }
    const [charge] = charges as readonly [Charge];
    const numbers = [WHAT[what], indexOf(charge)];
    if (what === 'reset') return numbers;
    numbers.push(charge.cost);
    if (what === 'refund') numbers.push(takenAtMs ?? -1);
    return numbers;
  }
}

/** Policy names have no colon. */
function idOf(policy: Policy, key: string): string {
  return `${policy.name}:${policy.algorithm}:${key}`;
}

function readAnswer(reader: ReplyReader, { what, charges }: Question, nowMs: number): Decision[] {
  const checks = what === 'consume' || what === 'look';
  return charges.map(({ policy, cost }) => {
    const rules = RULES[policy.algorithm];
    const fits = checks ? reader.next() === 1 : true;
    const facts = Array.from({ length: rules.factCount }, () => reader.next());
    return rules.decide(policy, facts, checks ? cost : 0, fits, nowMs, 'store');
  });
}

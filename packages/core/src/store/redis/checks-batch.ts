import { RULES } from '../../algorithms/rules.js';
import type { Decision } from '../../decision/decision.js';
import { ALGORITHMS, type Policy, samePolicy } from '../../policy/policy.js';
import type { Charge, Claim, Examination, Grant } from '../store.js';
import { type Batch, type Call, MAX_CHECKS, MAX_KEYS } from './batch.js';
import { ReplyReader } from './reply-reader.js';

/** By the numbers the script has for them. */
const WHAT = {
  consume: 1,
  look: 2,
  refund: 3,
  overcharge: 4,
  reset: 5,
  claim: 6,
  examine: 7,
} as const;

/** Something asked of one or several buckets, that waits for its answer. */
export interface Check {
  readonly what: Exclude<keyof typeof WHAT, 'claim' | 'examine'>;
  /** One, unless `what` is `consume` or `look`; its cost is the permits of a refund or overcharge. */
  readonly charges: readonly Charge[];
  /** Of a refund: when the permits were taken, by the store's clock. */
  readonly takenAtMs: number | undefined;
  resolve(decisions: readonly Decision[]): void;
  reject(error: Error): void;
}

/** A claim that waits for its grant. */
export interface ClaimCheck {
  readonly what: 'claim';
  readonly claim: Claim;
  resolve(grant: Grant | undefined): void;
  reject(error: Error): void;
}

/** A look at a bucket that waits for what is found. */
export interface ExamineCheck {
  readonly what: 'examine';
  readonly charges: readonly [Charge];
  resolve(examination: Examination): void;
  reject(error: Error): void;
}

export type Question = Check | ClaimCheck | ExamineCheck;

/** Checks of any kind that go out together. */
export class ChecksBatch implements Batch {
  readonly script = 'checks';
  /** By name and partition key: the policy, and the index of the bucket's key. */
  readonly #buckets = new Map<string, { policy: Policy; key: string; index: number }>();
  readonly #questions: Question[] = [];
  #answers: readonly Answer[] = [];

  get isFull(): boolean {
    return this.#buckets.size >= MAX_KEYS || this.#questions.length >= MAX_CHECKS;
  }

  get size(): number {
    return this.#questions.reduce((sum, question) => sum + sizeOf(question), 0);
  }

  get keyCount(): number {
    return this.#buckets.size;
  }

  apart(): readonly (ChecksBatch | Check)[] {
    return this.#questions.map((question) => {
      if ('takenAtMs' in question && question.charges.length > 1) return question;
      const one = new ChecksBatch();
      one.add(question);
      return one;
    });
  }

  /** False, having added nothing, where a bucket is here already under other policy values. */
  add(question: Question): boolean {
    const asked = bucketsOf(question);
    const isTaken = ({ policy, key }: Bucket) => {
      const held = this.#buckets.get(idOf(policy, key))?.policy;
      return held !== undefined && held !== policy && !samePolicy(held, policy);
    };
    if (asked.some(isTaken)) return false;
    for (const { policy, key } of asked) {
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
        policy.lease?.ttlMs ?? 0,
        policy.lease?.share ?? 0,
      ]),
      ...buckets.map(({ policy }) => policies.indexOf(policy) + 1),
      ...this.#questions.flatMap((question) => this.#numbersOf(question)),
    ];
    const keys = buckets.map(({ policy, key }) => keyOf(policy, key));
    return { keys, args: [JSON.stringify(numbers)] };
  }

  read(reply: unknown): number {
    const reader = new ReplyReader(reply);
    const nowMs = reader.next();
    this.#answers = this.#questions.map((question) => readAnswer(reader, question, nowMs));
    reader.end();
    return this.#answers.filter(({ changed }) => changed).length;
  }

  tell(): void {
    for (const { give } of this.#answers) give();
  }

  fail(error: Error): void {
    for (const { reject } of this.#questions) reject(error);
  }

  #numbersOf(question: Question): number[] {
    const indexOf = ({ policy, key }: Bucket): number =>
      this.#buckets.get(idOf(policy, key))?.index as number;
    if (question.what === 'claim') {
      const { claim } = question;
      const { holder, turn, reports, costs, extra } = claim;
      const told = reports.flatMap(({ epoch, spent, returned }) => [epoch, spent, returned]);
      const numbers = [WHAT.claim, indexOf(claim), holder, turn, told.length, ...told];
      return [...numbers, costs.length, ...costs, extra];
    }
    if (question.what === 'examine') {
      const [charge] = question.charges;
      return [WHAT.examine, indexOf(charge), charge.cost];
    }
    const { what, charges, takenAtMs } = question;
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

/** How many checks a question is: a claim has those of its calls, and itself. */
function sizeOf(question: Question): number {
  return question.what === 'claim' ? question.claim.costs.length + 1 : question.charges.length;
}

type Bucket = Pick<Charge, 'policy' | 'key'>;

function bucketsOf(question: Question): readonly Bucket[] {
  return question.what === 'claim' ? [question.claim] : question.charges;
}

/** What answers a question. */
interface Answer {
  /** False where the store is the same as before. */
  readonly changed: boolean;
  /** To be called once the whole reply is known to be sound. */
  give(): void;
}

function readAnswer(reader: ReplyReader, question: Question, nowMs: number): Answer {
  if (question.what === 'claim') {
    const { claim } = question;
    const grant = readGrant(reader, claim, nowMs);
    const charged = grant?.decisions.some(({ allowed }, i) => allowed && claim.costs[i] !== 0);
    const changed = charged || (grant?.permits ?? 0) > 0 || claim.reports.length > 0;
    return { changed, give: () => question.resolve(grant) };
  }
  if (question.what === 'examine') {
    const [{ policy, cost }] = question.charges;
    const out = reader.next();
    const decision = readDecision(reader, policy, cost, true, nowMs);
    return { changed: false, give: () => question.resolve({ decision, out }) };
  }
  const checks = question.what === 'consume' || question.what === 'look';
  const decisions = question.charges.map(({ policy, cost }) =>
    readDecision(reader, policy, checks ? cost : 0, checks, nowMs),
  );
  const fits = decisions.every(({ allowed }) => allowed);
  const spends = question.charges.some(({ cost }) => cost > 0);
  const changed = question.what === 'reset' || (question.what !== 'look' && fits && spends);
  return { changed, give: () => question.resolve(decisions) };
}

/** @param told whether the reply says if the cost fits; else it does */
function readDecision(
  reader: ReplyReader,
  policy: Policy,
  cost: number,
  told: boolean,
  nowMs: number,
): Decision {
  const rules = RULES[policy.algorithm];
  const fits = told ? reader.next() === 1 : true;
  const facts = Array.from({ length: rules.factCount }, () => reader.next());
  return rules.decide(policy, facts, cost, fits, nowMs, 'store');
}

function readGrant(
  reader: ReplyReader,
  { policy, costs }: Claim,
  nowMs: number,
): Grant | undefined {
  if (reader.next() === 0) return undefined;
  const decisions = costs.map((cost) => readDecision(reader, policy, cost, true, nowMs));
  const [permits, epoch, lifeMs] = [reader.next(), reader.next(), reader.next()];
  const left = readDecision(reader, policy, 0, false, nowMs);
  return { decisions, permits, epoch, lifeMs, left };
}

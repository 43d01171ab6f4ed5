import type { LeaseReport } from '../../algorithms/outstanding.js';
import type { Policy } from '../../policy/policy.js';
import { poolKey } from './bucket-key.js';
import type { RedisClient } from './client.js';
import { ClientGate } from './client-gate.js';
import { nodeOfBy } from './cluster-places.js';
import { ReplyReader } from './reply-reader.js';
import { ScriptRunner } from './script.js';
import type { ScriptSource } from './script-source.js';

/** A bucket of the home store, as a region leases of it. */
export interface PoolBucket {
  readonly policy: Policy;
  readonly key: string;
  /** How long the pool is of use when nothing is held any more. */
  readonly useMs: number;
}

/** What is asked of a pool. */
export interface PoolQuestion {
  /** Whether the home store may be asked, and so a claim be ordered. */
  readonly mayClaim: boolean;
  /** Whether the home store cannot be reached. */
  readonly isCut: boolean;
  /** How far ahead to claim, and how much at most. */
  readonly horizonMs: number;
  readonly mostPermits: number;
  /** For how long a claim is waited for, and how long one takes. */
  readonly patienceMs: number;
  readonly claimMs: number;
  /** How long what is lent to a replica lives. */
  readonly lentMs: number;
  /** As of a claim; 0 where nothing is told and nothing lent. */
  readonly holder: number;
  readonly turn: number;
  /** What a replica tells of what was lent to it. */
  readonly reports: readonly LeaseReport[];
  readonly costs: readonly number[];
  /** Permits that a replica would like to be lent. */
  readonly lend: number;
}

/** What becomes of one cost: it was taken, or denied for so long, or the home store has to decide. */
export type Outcome = 'taken' | 'ask' | { readonly deniedMs: number };

/** A claim that the replica that is told so is to make. */
export interface ClaimOrder {
  readonly number: number;
  readonly extra: number;
  /** Permits that were admitted without the home store and are to be charged to it. */
  readonly owed: number;
  readonly reports: readonly LeaseReport[];
}

/** The answer of a pool. */
export interface PoolAnswer {
  /** The region's clock. */
  readonly nowMs: number;
  readonly outcomes: readonly Outcome[];
  /** Permits that the region holds. */
  readonly left: number;
  /** What the home store last said. Undefined: it was not asked yet. */
  readonly home:
    | {
        readonly left: number;
        readonly refillAfterMs: number | undefined;
        readonly resetAfterMs: number;
      }
    | undefined;
  /** The home store's clock when what is spent was granted. */
  readonly grantedAtMs: number;
  readonly lent: { readonly permits: number; readonly epoch: number; readonly lifeMs: number };
  /** True for the first question since the home store cannot be reached. */
  readonly isFirstCut: boolean;
  readonly order: ClaimOrder | undefined;
}

/** What the home store answered to a claim. */
export interface PoolGrant {
  readonly number: number;
  readonly epoch: number;
  readonly permits: number;
  readonly lifeMs: number;
  readonly decidedAtMs: number;
  readonly left: number;
  readonly refillAfterMs: number | undefined;
  readonly resetAfterMs: number;
  /** Whether less was granted than was claimed. */
  readonly isShort: boolean;
}

/** How soon what ran short is asked for again, and how long that takes. */
export interface Pacing {
  readonly paceMs: number;
  readonly claimMs: number;
}

/** By the numbers that `lua/region.lua` has for them. */
const WHAT = { take: 1, granted: 2, denied: 3, failed: 4, owe: 5, putBack: 6, forget: 7 } as const;

/**
 * What a region holds of buckets that live in another store: permits in the region's Redis, for all
 * its replicas. `lua/region.lua` says what it does and what stays true.
 */
export class RegionPool {
  readonly #gate: ClientGate;
  readonly #runner: ScriptRunner;
  readonly #prefix: string;
  readonly #source: ScriptSource;

  /** @param prefix checked */
  constructor(client: RedisClient, prefix: string, source: ScriptSource) {
    this.#gate = new ClientGate(client);
    this.#runner = new ScriptRunner(this.#gate, undefined, nodeOfBy(client));
    this.#prefix = prefix;
    this.#source = source;
  }

  /**
   * Spends what is held, lends, and says what the home store is to be asked. Undefined, with nothing
   * done, where its holder was heard in that turn or a later one.
   */
  async take(bucket: PoolBucket, question: PoolQuestion): Promise<PoolAnswer | undefined> {
    const { reports, costs } = question;
    const told = reports.flatMap(({ epoch, spent, returned }) => [epoch, spent, returned]);
    const reader = await this.#ask(bucket, [
      WHAT.take,
      question.mayClaim ? 1 : 0,
      question.isCut ? 1 : 0,
      termsOf(bucket.policy),
      ...longerOf(bucket.policy),
      question.horizonMs,
      question.mostPermits,
      question.patienceMs,
      question.claimMs,
      bucket.useMs,
      question.lentMs,
      question.holder,
      question.turn,
      told.length,
      ...told,
      costs.length,
      ...costs,
      question.lend,
    ]);
    return readAnswer(reader, costs.length);
  }

  /** The home store has granted what was ordered, or less. */
  async granted(bucket: PoolBucket, grant: PoolGrant, { paceMs, claimMs }: Pacing): Promise<void> {
    await this.#ask(bucket, [
      WHAT.granted,
      grant.number,
      termsOf(bucket.policy),
      grant.epoch,
      grant.permits,
      grant.lifeMs,
      // Of a bucket in shards its fraction says which: no time that a reply can hold.
      Math.floor(grant.decidedAtMs),
      grant.left,
      grant.refillAfterMs ?? -1,
      grant.resetAfterMs,
      grant.isShort ? 1 : 0,
      paceMs,
      claimMs,
      bucket.useMs,
    ]);
  }

  /**
   * The home store has denied a cost.
   * @param sinceMs the region's clock before it was asked
   * @param waitMs until the cost fits
   */
  async denied(
    bucket: PoolBucket,
    sinceMs: number,
    cost: number,
    waitMs: number,
    { paceMs, claimMs }: Pacing,
  ): Promise<void> {
    const terms = termsOf(bucket.policy);
    const told = [WHAT.denied, sinceMs, terms, cost, waitMs, paceMs, claimMs, bucket.useMs];
    await this.#ask(bucket, told);
  }

  /** A claim that was ordered has no answer. */
  async failed(bucket: PoolBucket, number: number, paceMs: number): Promise<void> {
    await this.#ask(bucket, [WHAT.failed, number, paceMs, bucket.useMs]);
  }

  /** Permits were admitted that the home store is to be charged for; below 0: they came back. */
  async owe(bucket: PoolBucket, permits: number): Promise<void> {
    await this.#ask(bucket, [WHAT.owe, permits, bucket.useMs]);
  }

  /**
   * Puts permits back that were taken here.
   * @param takenAtMs the home store's clock, as their decision has it
   * @returns false where it has been told of them, or their time is over
   */
  async putBack(bucket: PoolBucket, permits: number, takenAtMs: number): Promise<boolean> {
    const reader = await this.#ask(bucket, [WHAT.putBack, permits, takenAtMs, bucket.useMs]);
    reader.next();
    return reader.next() === 1;
  }

  /** Forgets what is held: the bucket begins anew. */
  async forget(bucket: PoolBucket): Promise<void> {
    await this.#ask(bucket, [WHAT.forget]);
  }

  async #ask(
    { policy, key }: PoolBucket,
    told: readonly (number | string)[],
  ): Promise<ReplyReader> {
    const args = [JSON.stringify(told), ...this.#source.extraArgs()];
    try {
      const keys = [poolKey(this.#prefix, policy, key)];
      const reply = await this.#runner.run(this.#source.scripts.region, keys, args);
      return new ReplyReader(reply);
    } catch (error) {
      throw this.#gate.failure('decide', error, this.#prefix);
    }
  }
}

/** What a denial depends on: calls of one bucket may have other values. */
function termsOf({ limit, windowMs, burst }: Policy): string {
  return `${limit}/${windowMs}/${burst}`;
}

/**
 * How much longer a greater cost waits: so many ms for so many permits. Where windows are counted, not
 * at all, or it depends on what was spent when.
 */
function longerOf({ algorithm, limit, windowMs }: Policy): readonly [number, number] {
  if (algorithm === 'fixed-window') return [0, Math.max(1, limit)];
  const isEven = algorithm === 'token-bucket' || algorithm === 'gcra';
  return isEven ? [windowMs, limit] : [0, 0];
}

function readAnswer(reader: ReplyReader, costs: number): PoolAnswer | undefined {
  const nowMs = reader.next();
  if (reader.next() === 0) return undefined;
  const outcomes = Array.from({ length: costs }, (): Outcome => {
    const code = reader.next();
    if (code === 2) return { deniedMs: reader.next() };
    return code === 1 ? 'taken' : 'ask';
  });
  const left = reader.next();
  const [homeLeft, refill, resetAfterMs] = [reader.next(), reader.next(), reader.next()];
  const refillAfterMs = refill < 0 ? undefined : refill;
  const home = homeLeft < 0 ? undefined : { left: homeLeft, refillAfterMs, resetAfterMs };
  const grantedAtMs = reader.next();
  const lent = { permits: reader.next(), epoch: reader.next(), lifeMs: reader.next() };
  const isFirstCut = reader.next() === 1;
  const order = readOrder(reader);
  reader.end();
  return { nowMs, outcomes, left, home, grantedAtMs, lent, isFirstCut, order };
}

function readOrder(reader: ReplyReader): ClaimOrder | undefined {
  const number = reader.next();
  if (number === 0) return undefined;
  const [extra, owed] = [reader.next(), reader.next()];
  const reports = Array.from({ length: reader.next() / 3 }, () => ({
    epoch: reader.next(),
    spent: reader.next(),
    returned: reader.next(),
  }));
  return { number, extra, owed, reports };
}

import type { Redis } from 'ioredis';
import { type Policy, parsePolicy } from '../../src/policy/policy.js';
import { poolKey } from '../../src/store/redis/bucket-key.js';
import {
  type ClaimOrder,
  type PoolAnswer,
  type PoolBucket,
  type PoolGrant,
  type PoolQuestion,
  RegionPool,
} from '../../src/store/redis/region-pool.js';
import {
  checks,
  heartbeat,
  plainChecks,
  region,
} from '../../src/testing/frozen-scripts.generated.js';
import { ManualClock } from '../../src/testing/manual-clock.js';

export const PACING = { paceMs: 20, claimMs: 10 };
export const USE_MS = 60_000;

/** As many calls as it takes for a claim of 10 permits. */
export const RUSH: readonly number[] = Array.from({ length: 20 }, () => 1);

/** The pool of one bucket, with a clock that stands still until it is moved. */
export class OnePool {
  readonly clock: ManualClock = new ManualClock();
  readonly pool: RegionPool;
  readonly bucket: PoolBucket;
  readonly key: string;

  constructor(client: Redis, prefix: string, policy: Partial<Policy> = {}) {
    const own = { ...parsePolicy('p', { limit: 100, window: '1s' }, ''), ...policy };
    this.bucket = { policy: own, key: 'k', useMs: USE_MS };
    this.key = poolKey(prefix, own, 'k');
    this.pool = new RegionPool(client, prefix, {
      scripts: { plainChecks, checks, heartbeat, region },
      extraArgs: () => [this.clock.nowMs()],
      clock: this.clock,
    });
  }

  /** Asked of the pool; what is left out claims nothing, lends nothing and tells nothing. */
  async ask(
    question: Partial<PoolQuestion>,
    bucket: PoolBucket = this.bucket,
  ): Promise<PoolAnswer> {
    const answer = await this.heard(question, bucket);
    if (answer === undefined) throw new Error('it was heard before');
    return answer;
  }

  /** The same, where it may have been heard before. */
  heard(
    question: Partial<PoolQuestion>,
    bucket: PoolBucket = this.bucket,
  ): Promise<PoolAnswer | undefined> {
    return this.pool.take(bucket, {
      mayClaim: false,
      isCut: false,
      horizonMs: 1000,
      mostPermits: 10,
      patienceMs: 1000,
      claimMs: PACING.claimMs,
      lentMs: 5000,
      holder: 0,
      turn: 0,
      reports: [],
      costs: [],
      lend: 0,
      ...question,
    });
  }

  /** Calls that nothing is held for, and so an order. */
  async order(question: Partial<PoolQuestion> = {}): Promise<ClaimOrder> {
    const { order } = await this.ask({ mayClaim: true, costs: RUSH, ...question });
    if (order === undefined) throw new Error('nothing was ordered');
    return order;
  }

  /** Permits that are granted. Left out: 10 for 1 s, of a bucket that has 50 left. */
  grant(number: number, grant: Partial<PoolGrant> = {}): Promise<void> {
    const whole: PoolGrant = {
      number,
      epoch: 1,
      permits: 10,
      lifeMs: 1000,
      decidedAtMs: 7000,
      left: 50,
      refillAfterMs: 10,
      resetAfterMs: 500,
      isShort: false,
      ...grant,
    };
    return this.pool.granted(this.bucket, whole, PACING);
  }

  /** Has permits ordered and granted at once. */
  async hold(grant: Partial<PoolGrant> = {}): Promise<void> {
    await this.grant((await this.order()).number, grant);
  }

  /** Permits that are held now. */
  async left(): Promise<number> {
    return (await this.ask({})).left;
  }
}

import { randomInt } from 'node:crypto';
import type { Decision } from '../decision/decision.js';
import { closed, isStoreFailure, notLeased } from '../errors.js';
import type { StoreState } from '../fallback/breaker.js';
import { bucketId } from '../fallback/bucket-id.js';
import { Deadlines } from '../fallback/deadlines.js';
import type { Policy } from '../policy/policy.js';
import { consumeInTurn } from '../store/consume-in-turn.js';
import { checkName } from '../store/redis/bucket-key.js';
import { checkClient, type RedisClient } from '../store/redis/client.js';
import { InFlight } from '../store/redis/in-flight.js';
import { RedisStore } from '../store/redis/redis-store.js';
import { type PoolBucket, RegionPool } from '../store/redis/region-pool.js';
import { type ScriptSource, SERVER_CLOCK } from '../store/redis/script-source.js';
import type { Charge, Claim, Grant, Store } from '../store/store.js';
import { repeat } from '../time/background.js';
import { type Clock, monotonicClock } from '../time/clock.js';
import { HomeLink } from './home-link.js';
import { RegionBucket, type RegionParts } from './region-bucket.js';
import { within } from './region-call.js';
import { decideAlone, decideByLook } from './region-decision.js';
import { RememberedBuckets } from './remembered-buckets.js';
import {
  parseRegion,
  type RegionalStoreOptions,
  type RegionPolicies,
  regionPolicies,
} from './terms.js';

/** How often buckets are looked at whose permits this replica has claimed, and how many at once. */
const SWEEP_EVERY_MS = 250;
const SWEEP_COUNT = 500;

/** How long `close` waits for what is under way. */
const CLOSE_TIMEOUT_MS = 1000;

/**
 * Buckets that all regions share, decided in this region: the region's Redis holds permits that it has
 * claimed from the home store, and the region's replicas spend them together. What is not covered by
 * them the home store decides, so the quota holds over all regions as if there was one.
 *
 * Where the home store cannot be reached, the region spends what it holds, and then decides by its fixed
 * share, which is charged to the home store when that is back.
 */
export class RegionalStore implements Store {
  readonly clock: Clock | undefined;
  /** How long an answer may take beyond a round trip: the home store's deadline. */
  readonly waitMs: number;
  readonly #local: RedisStore;
  readonly #home: HomeLink;
  readonly #parts: RegionParts;
  readonly #policies = new WeakMap<Policy, RegionPolicies>();
  readonly #buckets = new Map<string, RegionBucket>();
  readonly #inFlight = new InFlight();
  /** Those of which permits are held: looked at when their time is over. */
  readonly #held = new RememberedBuckets();
  /** Those that owe the home store. */
  readonly #owing = new RememberedBuckets();
  readonly #now: Clock;
  #turn = 0;
  #listed: RegionBucket[] = [];
  #stopSweeper: (() => void) | undefined;
  #closed = false;

  constructor(
    client: RedisClient,
    options: RegionalStoreOptions,
    source: ScriptSource = SERVER_CLOCK,
  ) {
    checkClient(client);
    const terms = parseRegion(options);
    const prefix = checkName('prefix', terms.redis.prefix ?? 'rl');
    this.clock = source.clock;
    this.waitMs = terms.homeDeadlineMs;
    this.#now = source.clock ?? monotonicClock;
    this.#local = new RedisStore(client, terms.redis, source);
    this.#home = new HomeLink(terms, this.#now, () => this.#payAll());
    const deadlines = new Deadlines(terms.deadlineMs, this.#now);
    this.#parts = {
      pool: new RegionPool(client, prefix, source),
      local: this.#local,
      home: this.#home,
      share: terms.share,
      holder: randomInt(1, 2 ** 48 - 1),
      nextTurn: () => ++this.#turn,
      policiesOf: (policy) => this.#policiesOf(policy, terms),
      within: (asked, late) => within(deadlines, terms.deadlineMs, asked, late),
      list: (bucket) => this.#list(bucket),
      track: (bucket, work) => this.#track(bucket, work),
      holds: (policy, key, forMs) => {
        this.#held.add(policy, key, this.#now.nowMs() + forMs);
        this.#startSweeper();
      },
      owes: (policy, key) => this.#owing.add(policy, key, 0),
    };
  }

  /** Whether the home store is asked. */
  get homeState(): StoreState {
    return this.#home.state;
  }

  tryConsume(): undefined {
    if (this.#closed) throw closed('store');
    return undefined;
  }

  consume(policy: Policy, key: string, cost: number): Promise<Decision> {
    if (this.#closed) return Promise.reject(closed('store'));
    return new Promise((resolve, reject) => {
      this.#bucketOf(policy, key).wait({ policy, cost, resolve, reject });
    });
  }

  tryConsumeAll(): undefined {
    return this.tryConsume();
  }

  /** In turn, as each has a lease of its own: see `consumeInTurn`. */
  async consumeAll(charges: readonly Charge[]): Promise<readonly Decision[]> {
    if (this.#closed) throw closed('store');
    const ask = async (what: 'consume' | 'look', [charge]: readonly Charge[]) => {
      const { policy, key, cost } = charge as Charge;
      if (what === 'consume') return [await this.consume(policy, key, cost)];
      return [decideByLook(policy, await this.consume(policy, key, 0), cost)];
    };
    const refund = ({ policy, key, cost }: Charge, takenAtMs: number) =>
      this.refund(policy, key, cost, takenAtMs);
    const groups = charges.map((charge) => [charge]);
    const decisions = await this.#inFlight.track(consumeInTurn(groups, ask, refund));
    return charges.map((charge) => decisions.get(charge) as Decision);
  }

  claim(claim: Claim): Promise<Grant | undefined> {
    if (this.#closed) return Promise.reject(closed('store'));
    if (claim.policy.lease === undefined) return Promise.reject(notLeased(claim.policy));
    return this.#bucketOf(claim.policy, claim.key).claim(claim);
  }

  async refund(
    policy: Policy,
    key: string,
    permits: number,
    takenAtMs: number | undefined,
  ): Promise<Decision> {
    if (this.#closed) throw closed('store');
    const { pool } = this.#parts;
    const bucket = this.#poolBucket(policy, key);
    const takenMs = takenAtMs ?? Number.MAX_SAFE_INTEGER;
    if (permits > 0 && (await pool.putBack(bucket, permits, takenMs))) {
      return this.consume(policy, key, 0);
    }
    const { atHome } = this.#parts.policiesOf(policy);
    return this.#correct(policy, key, -permits, () =>
      this.#home.store.refund(atHome, key, permits, takenAtMs),
    );
  }

  overcharge(policy: Policy, key: string, permits: number): Promise<Decision> {
    const { atHome } = this.#parts.policiesOf(policy);
    return this.#correct(policy, key, permits, () =>
      this.#home.store.overcharge(atHome, key, permits),
    );
  }

  /** Rejects where the home store does not answer. */
  async reset(policy: Policy, key: string): Promise<void> {
    if (this.#closed) throw closed('store');
    const { atHome, alone } = this.#parts.policiesOf(policy);
    await this.#parts.pool.forget(this.#poolBucket(policy, key));
    await this.#local.reset(alone, key);
    await this.#home.ask(key, () => this.#home.store.reset(atHome, key));
  }

  /** As many replicas as there would be if all regions were like this one. */
  async heartbeat(): Promise<number> {
    return Math.ceil((await this.#local.heartbeat()) / this.#parts.share);
  }

  /**
   * What was asked before is answered. The region goes on holding what it holds, for other replicas.
   * Neither the home store nor the client is closed.
   */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopSweeper?.();
    this.#flush();
    await this.#inFlight.end(CLOSE_TIMEOUT_MS);
    this.#home.close();
    await this.#local.close();
  }

  /**
   * Has the home store put back or take permits, below 0 put back; where it does not answer the region
   * does it by its share, and owes it.
   */
  async #correct(
    policy: Policy,
    key: string,
    permits: number,
    ask: () => Promise<Decision>,
  ): Promise<Decision> {
    if (this.#closed) throw closed('store');
    const { pool } = this.#parts;
    const bucket = this.#poolBucket(policy, key);
    // The home store has done it after all: it is not owed besides.
    const late = () => void this.#inFlight.track(pool.owe(bucket, -permits)).catch(() => {});
    try {
      return await this.#home.ask(key, ask, late);
    } catch (error) {
      if (!isStoreFailure(error)) throw error;
      const { alone } = this.#parts.policiesOf(policy);
      const decision =
        permits < 0
          ? await this.#local.refund(alone, key, -permits, undefined)
          : await this.#local.overcharge(alone, key, permits);
      await pool.owe(bucket, permits);
      this.#parts.owes(policy, key);
      return decideAlone(policy, decision, error.fault ?? 'other');
    }
  }

  #bucketOf(policy: Policy, key: string): RegionBucket {
    const id = bucketId(policy, key);
    const found = this.#buckets.get(id);
    if (found !== undefined) return found;
    const bucket = new RegionBucket(this.#parts, key, id);
    this.#buckets.set(id, bucket);
    return bucket;
  }

  #poolBucket(policy: Policy, key: string): PoolBucket {
    return { policy, key, useMs: this.#parts.policiesOf(policy).useMs };
  }

  #policiesOf(policy: Policy, terms: Parameters<typeof regionPolicies>[1]): RegionPolicies {
    const found = this.#policies.get(policy);
    if (found !== undefined) return found;
    const made = regionPolicies(policy, terms);
    this.#policies.set(policy, made);
    return made;
  }

  #list(bucket: RegionBucket): void {
    if (bucket.listed) return;
    bucket.listed = true;
    if (this.#listed.push(bucket) === 1) setImmediate(() => this.#flush());
  }

  #flush(): void {
    const listed = this.#listed;
    this.#listed = [];
    for (const bucket of listed) {
      bucket.listed = false;
      bucket.turn();
    }
  }

  #track<Result>(bucket: RegionBucket, work: Promise<Result>): Promise<Result> {
    bucket.underWay++;
    const done = () => {
      bucket.underWay--;
      if (bucket.isIdle && this.#buckets.get(bucket.id) === bucket) this.#buckets.delete(bucket.id);
    };
    work.then(done, done);
    return this.#inFlight.track(work);
  }

  /** The home store can be charged: what is owed to it is paid. */
  #payAll(): void {
    for (const { policy, key } of this.#owing.take(0, Number.POSITIVE_INFINITY)) {
      this.#bucketOf(policy, key).settle(policy, true);
    }
  }

  /** A clock of one's own is not moved by real time: then nothing sweeps. */
  #startSweeper(): void {
    if (this.#stopSweeper !== undefined || this.#closed || this.#now !== monotonicClock) return;
    this.#stopSweeper = repeat(this, SWEEP_EVERY_MS, RegionalStore.#sweep);
  }

  /** Has the home store told of permits whose time is over, though nobody asks for them any more. */
  static #sweep(store: RegionalStore): void {
    for (const { policy, key } of store.#held.take(store.#now.nowMs(), SWEEP_COUNT)) {
      store.#bucketOf(policy, key).settle(policy, false);
    }
  }
}

/**
 * A store for one of several regions: decides in the region's Redis, on permits leased from the home
 * store, which all regions share.
 *
 * @param client of the region's Redis: an ioredis Redis or Cluster, version 5.4 or 6
 * @throws TypeError or RangeError that names the field and shows the value
 */
export function regionalStore(client: RedisClient, options: RegionalStoreOptions): RegionalStore {
  return new RegionalStore(client, options);
}

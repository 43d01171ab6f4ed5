import type { Decision } from '../decision/decision.js';
import { isStoreFailure, type RateLimitError, type StoreFault } from '../errors.js';
import { isDenial } from '../lease/denial.js';
import type { Policy } from '../policy/policy.js';
import type { RedisStore } from '../store/redis/redis-store.js';
import type {
  ClaimOrder,
  Outcome,
  PoolAnswer,
  PoolBucket,
  PoolQuestion,
  RegionPool,
} from '../store/redis/region-pool.js';
import type { Claim, Grant } from '../store/store.js';
import type { HomeLink } from './home-link.js';
import { decideAlone, decideByPool } from './region-decision.js';
import type { RegionPolicies } from './terms.js';

/** A call that waits for its decision. */
export interface Waiter {
  readonly policy: Policy;
  readonly cost: number;
  resolve(decision: Decision): void;
  reject(error: unknown): void;
}

/** What the buckets of a region share. */
export interface RegionParts {
  readonly pool: RegionPool;
  /** The region's own buckets, for its fixed share. */
  readonly local: RedisStore;
  readonly home: HomeLink;
  /** The region's fixed share of a quota. */
  readonly share: number;
  /** Differs between all that claim at the home store. */
  readonly holder: number;
  nextTurn(): number;
  policiesOf(policy: Policy): RegionPolicies;
  /** The answer of the region's Redis, by its deadline. @param late told one that comes after it */
  within<Answer>(asked: Promise<Answer>, late: (answer: Answer) => void): Promise<Answer>;
  /** Has the bucket's `turn` run at the end of this turn of the event loop. */
  list(bucket: RegionBucket): void;
  /** Something is under way for a bucket; when it has ended the bucket may be `isIdle`. */
  track<Result>(bucket: RegionBucket, work: Promise<Result>): Promise<Result>;
  /** The pool holds permits for so long: then it is to be looked at again. */
  holds(policy: Policy, key: string, forMs: number): void;
  /** Something is owed to the home store. */
  owes(policy: Policy, key: string): void;
}

/** What a replica tells and asks with a claim of its own. */
type Lending = Pick<Claim, 'holder' | 'turn' | 'reports'> & { readonly lend: number };

/** A denial of a bucket that is not leased is remembered for no longer than it surely holds. */
const UNLEASED = { paceMs: 0, claimMs: 0 };

const NOTHING: Lending = { holder: 0, turn: 0, reports: [], lend: 0 };

/**
 * The calls of one bucket that this replica has in hand. They are decided by what the region holds; where
 * that is not enough, by the home store, which is asked for all that wait together; and where it cannot
 * be reached, by the region's fixed share.
 */
export class RegionBucket {
  readonly key: string;
  readonly #parts: RegionParts;
  /** Those of this turn. */
  #fresh: Waiter[] = [];
  /** Those the home store has to decide, while it is being asked for others. */
  #dry: Waiter[] = [];
  /** Those that were among them once. */
  readonly #waited = new WeakSet<Waiter>();
  /** Questions to the home store under way that others can wait for. */
  #asking = 0;
  /** What is under way: see `RegionParts.track`. */
  underWay = 0;
  listed = false;
  readonly id: string;

  constructor(parts: RegionParts, key: string, id: string) {
    this.#parts = parts;
    this.key = key;
    this.id = id;
  }

  /** True where it has nothing in hand. */
  get isIdle(): boolean {
    return this.#fresh.length + this.#dry.length + this.underWay === 0;
  }

  /** Adds a call. */
  wait(waiter: Waiter): void {
    this.#fresh.push(waiter);
    this.#parts.list(this);
  }

  /** Asks the pool for the calls that came in this turn. */
  turn(): void {
    const fresh = this.#fresh;
    this.#fresh = [];
    const byPolicy = new Map<Policy, Waiter[]>();
    for (const waiter of fresh) {
      const own = byPolicy.get(waiter.policy);
      if (own === undefined) byPolicy.set(waiter.policy, [waiter]);
      else own.push(waiter);
    }
    for (const [policy, waiters] of byPolicy) this.#run(this.#take(policy, waiters));
  }

  /**
   * Has the home store told what is over, and charged with what is owed.
   * @param anyway also where it only takes what is owed yet
   */
  settle(policy: Policy, anyway: boolean): void {
    this.#run(this.#take(policy, [], anyway));
  }

  /** Takes what a replica tells of what it was lent, decides what waits there, and lends. */
  claim(claim: Claim): Promise<Grant | undefined> {
    return this.#parts.track(this, this.#lend(claim));
  }

  async #lend({ policy, holder, turn, reports, costs, extra }: Claim): Promise<Grant | undefined> {
    const decisions: Promise<Decision>[] = [];
    const waiters = costs.map((cost): Waiter => {
      let waiter: Pick<Waiter, 'resolve' | 'reject'> | undefined;
      decisions.push(
        new Promise((resolve, reject) => {
          waiter = { resolve, reject };
        }),
      );
      return { policy, cost, ...(waiter as Pick<Waiter, 'resolve' | 'reject'>) };
    });
    const made = Promise.all(decisions);
    made.catch(() => {});
    const answer = await this.#take(policy, waiters, false, { holder, turn, reports, lend: extra });
    if (answer === undefined) return undefined;
    const { permits, epoch, lifeMs } = answer.lent;
    return { decisions: await made, permits, epoch, lifeMs, left: decideByPool(policy, answer) };
  }

  /**
   * Decides on calls of one policy.
   * @returns undefined where it was heard before; the calls are not decided then
   */
  async #take(
    policy: Policy,
    waiters: readonly Waiter[],
    anyway = false,
    lending: Lending = NOTHING,
  ): Promise<PoolAnswer | undefined> {
    const { pool, within } = this.#parts;
    const bucket = this.#bucketOf(policy);
    const question = this.#question(policy, waiters, anyway, lending);
    try {
      const answer = await within(pool.take(bucket, question), (late) => {
        if (late !== undefined) this.#late(policy, waiters, late);
      });
      if (answer !== undefined) this.#heard(policy, waiters, answer);
      return answer;
    } catch (error) {
      for (const { reject } of waiters) reject(error);
      if (lending !== NOTHING) throw error;
      return undefined;
    }
  }

  #question(
    policy: Policy,
    waiters: readonly Waiter[],
    anyway: boolean,
    lending: Lending,
  ): PoolQuestion {
    const { home } = this.#parts;
    const { lease } = this.#policies(policy);
    const { state } = home;
    return {
      mayClaim: state === 'up' || (anyway && state === 'returning'),
      isCut: state !== 'up',
      horizonMs: lease?.horizonMs ?? 0,
      mostPermits: lease?.share ?? 0,
      patienceMs: home.patienceMs,
      claimMs: home.roundTripMs,
      lentMs: policy.lease?.ttlMs ?? 0,
      // What can never fit only looks.
      costs: waiters.map(({ cost }) => (cost > policy.burst ? 0 : cost)),
      ...lending,
    };
  }

  #heard(policy: Policy, waiters: readonly Waiter[], answer: PoolAnswer): void {
    const dry: Waiter[] = [];
    waiters.forEach((waiter, i) => {
      const outcome = answer.outcomes[i] as Outcome;
      const never = waiter.cost > policy.burst ? { retryAfterMs: undefined } : undefined;
      if (outcome === 'ask') dry.push(waiter);
      else
        waiter.resolve(
          decideByPool(
            policy,
            answer,
            outcome === 'taken' ? never : { retryAfterMs: outcome.deniedMs },
          ),
        );
    });
    if (answer.order !== undefined) this.#run(this.#claim(policy, dry, answer, answer.order));
    else if (dry.length === 0) return;
    else if (this.#parts.home.state !== 'up') this.#run(this.#alone(dry, answer));
    else this.#askOrWait(policy, dry, answer);
  }

  /** A call waits for what is asked for others once: then it is asked for, whatever else is. */
  #askOrWait(policy: Policy, dry: readonly Waiter[], answer: PoolAnswer): void {
    const waits = (waiter: Waiter) => this.#asking > 0 && !this.#waited.has(waiter);
    const [later, now] = [dry.filter(waits), dry.filter((waiter) => !waits(waiter))];
    for (const waiter of later) this.#waited.add(waiter);
    this.#dry.push(...later);
    if (now.length > 0) this.#run(this.#askHome(policy, now, answer));
  }

  /** The calls were decided without the pool meanwhile: what it took for them goes back. */
  #late(policy: Policy, waiters: readonly Waiter[], answer: PoolAnswer): void {
    const costs = waiters.map(({ cost }, i) =>
      answer.outcomes[i] === 'taken' && cost <= policy.burst ? cost : 0,
    );
    const permits = costs.reduce((sum, cost) => sum + cost, 0);
    if (permits > 0) {
      const { pool } = this.#parts;
      this.#quietly(pool.putBack(this.#bucketOf(policy), permits, answer.grantedAtMs));
    }
    if (answer.order !== undefined) this.#run(this.#claim(policy, [], answer, answer.order));
  }

  /** Asks the home store to decide, without a claim. */
  async #askHome(policy: Policy, waiters: readonly Waiter[], answer: PoolAnswer): Promise<void> {
    const { home } = this.#parts;
    const { atHome } = this.#policies(policy);
    const ask = () =>
      Promise.all(waiters.map(({ cost }) => home.store.consume(atHome, this.key, cost)));
    this.#asking++;
    try {
      const late = (decisions: readonly Decision[]) => this.#giveBack(policy, waiters, decisions);
      this.#decided(policy, waiters, await home.ask(this.key, ask, late), answer.nowMs);
    } catch (error) {
      await this.#failed(waiters, error);
    } finally {
      this.#asked();
    }
  }

  /** Makes the claim that the pool has ordered, for the calls that wait as well. */
  async #claim(
    policy: Policy,
    waiters: readonly Waiter[],
    answer: PoolAnswer,
    order: ClaimOrder,
  ): Promise<void> {
    const { home, holder } = this.#parts;
    const { atHome } = this.#policies(policy);
    const { extra, reports, owed } = order;
    if (owed > 0) this.#run(this.#pay(policy, owed));
    if (extra === 0 && reports.length === 0) {
      this.#orderFailed(policy, order, 0);
      if (waiters.length > 0) await this.#askHome(policy, waiters, answer);
      return;
    }
    const anyway = waiters.length === 0 && extra === 0;
    this.#asking++;
    try {
      const claim: Claim = {
        policy: atHome,
        key: this.key,
        holder,
        turn: this.#parts.nextTurn(),
        reports,
        costs: waiters.map(({ cost }) => cost),
        extra,
      };
      const late = (grant: Grant | undefined) => {
        if (grant === undefined) return;
        this.#run(this.#granted(policy, order, grant));
        this.#giveBack(policy, waiters, grant.decisions);
      };
      const grant = await home.ask(this.key, () => home.store.claim(claim), late, anyway);
      if (grant === undefined) {
        for (const waiter of waiters) this.wait(waiter);
        this.#orderFailed(policy, order);
        return;
      }
      const told = this.#granted(policy, order, grant);
      // The calls do not wait for the region's Redis once more.
      this.#decided(policy, waiters, grant.decisions, answer.nowMs);
      await told;
    } catch (error) {
      // After mere silence the answer may come yet: the order stands until it is not waited for any more.
      if (!isStoreFailure(error) || error.fault !== 'timeout') this.#orderFailed(policy, order);
      await this.#failed(waiters, error);
    } finally {
      this.#asked();
    }
  }

  async #granted(policy: Policy, order: ClaimOrder, grant: Grant): Promise<void> {
    const { pool, holds } = this.#parts;
    const { left, permits, epoch, lifeMs } = grant;
    const told = pool.granted(
      this.#bucketOf(policy),
      {
        number: order.number,
        epoch,
        permits,
        lifeMs,
        decidedAtMs: left.decidedAtMs,
        left: left.remaining,
        refillAfterMs: left.refillAfterMs,
        resetAfterMs: left.resetAfterMs,
        isShort: permits < order.extra,
      },
      this.#pacing(policy),
    );
    if (permits > 0) holds(policy, this.key, lifeMs);
    // Where it is not heard, the home store writes off what was granted.
    await told.catch(() => {});
  }

  /**
   * Charges the home store with what was admitted without it, as far as that still matters: what the
   * region's share has regained meanwhile, the home store has regained, too. What it does not hear of
   * stays owed.
   */
  async #pay(policy: Policy, owed: number): Promise<void> {
    const { home, pool, local, owes } = this.#parts;
    const bucket = this.#bucketOf(policy);
    const { alone, atHome } = this.#policies(policy);
    let due = owed;
    try {
      const { remaining } = await local.consume(alone, this.key, 0);
      due = Math.min(owed, alone.burst - remaining);
      if (due === 0) return;
      const ask = () => home.store.overcharge(atHome, this.key, due);
      const late = () => this.#quietly(pool.owe(bucket, -due));
      await home.ask(this.key, ask, late, true);
    } catch {
      owes(policy, this.key);
      this.#quietly(pool.owe(bucket, due));
    }
  }

  #decided(
    policy: Policy,
    waiters: readonly Waiter[],
    decisions: readonly Decision[],
    sinceMs: number,
  ): void {
    let denied: { cost: number; waitMs: number } | undefined;
    waiters.forEach(({ cost, resolve }, i) => {
      const decision = decisions[i] as Decision;
      resolve(decision);
      if (!isDenial(decision) || cost > policy.burst) return;
      if (denied === undefined || cost < denied.cost) {
        denied = { cost, waitMs: decision.retryAfterMs ?? 0 };
      }
    });
    if (denied === undefined) return;
    const bucket = this.#bucketOf(policy);
    const { pool } = this.#parts;
    const { cost, waitMs } = denied;
    this.#quietly(pool.denied(bucket, sinceMs, cost, waitMs, this.#pacing(policy)));
  }

  /** The home store decided as well, too late: what it took for calls decided without it goes back. */
  #giveBack(policy: Policy, waiters: readonly Waiter[], decisions: readonly Decision[]): void {
    const { home } = this.#parts;
    const { atHome } = this.#policies(policy);
    waiters.forEach(({ cost }, i) => {
      const { allowed, wouldDeny, decidedAtMs } = decisions[i] as Decision;
      if (!allowed || wouldDeny || cost === 0) return;
      const ask = () => home.store.refund(atHome, this.key, cost, decidedAtMs);
      this.#quietly(home.ask(this.key, ask, undefined, true));
    });
  }

  /** The home store has not answered. */
  async #failed(waiters: readonly Waiter[], error: unknown): Promise<void> {
    if (waiters.length === 0) return;
    if (!isStoreFailure(error)) {
      for (const { reject } of waiters) reject(error);
      return;
    }
    await this.#alone(waiters, undefined, error);
  }

  /**
   * Decides by the region's fixed share.
   * @param answer of the pool, where it was told that the region is cut off
   */
  async #alone(
    waiters: readonly Waiter[],
    answer: PoolAnswer | undefined,
    error?: RateLimitError,
  ): Promise<void> {
    const { home } = this.#parts;
    const fault = error?.fault ?? home.lastFault;
    const { policy } = waiters[0] as Waiter;
    try {
      const marked = answer ?? (await this.#mark(policy));
      if (marked?.isFirstCut) await this.#lower(policy, marked);
      await Promise.all(waiters.map((waiter) => this.#decideAlone(waiter, fault)));
    } catch (thrown) {
      for (const { reject } of waiters) reject(thrown);
    }
  }

  /** Tells the pool that the region is cut off. */
  #mark(policy: Policy): Promise<PoolAnswer | undefined> {
    const { pool } = this.#parts;
    const question = this.#question(policy, [], false, NOTHING);
    return pool.take(this.#bucketOf(policy), { ...question, mayClaim: false, isCut: true });
  }

  /** An outage brings no fresh quota: the region's share is a share of what was left. */
  async #lower(policy: Policy, { home: known }: PoolAnswer): Promise<void> {
    if (known === undefined || known.resetAfterMs === 0) return;
    const { local, share } = this.#parts;
    const { alone } = this.#policies(policy);
    const most = Math.floor(known.left * share);
    const { remaining } = await local.consume(alone, this.key, 0);
    if (remaining > most) await local.overcharge(alone, this.key, remaining - most);
  }

  async #decideAlone({ policy, cost, resolve }: Waiter, fault: StoreFault): Promise<void> {
    const { local, pool, owes } = this.#parts;
    const decision = await local.consume(this.#policies(policy).alone, this.key, cost);
    resolve(decideAlone(policy, decision, fault));
    if (isDenial(decision) || cost === 0) return;
    owes(policy, this.key);
    this.#quietly(pool.owe(this.#bucketOf(policy), cost));
  }

  #orderFailed(policy: Policy, { number }: ClaimOrder, paceMs?: number): void {
    const afterMs = paceMs ?? this.#pacing(policy).paceMs;
    this.#quietly(this.#parts.pool.failed(this.#bucketOf(policy), number, afterMs));
  }

  /** A question to the home store has ended: calls that waited meanwhile look into the pool again. */
  #asked(): void {
    this.#asking--;
    for (const waiter of this.#dry.splice(0)) this.wait(waiter);
  }

  /** Work that never rejects. */
  #run(work: Promise<unknown>): void {
    void this.#parts.track(this, work);
  }

  /** The pool gets over what it is not told: permits of which it hears nothing are not spent. */
  #quietly(work: Promise<unknown>): void {
    this.#run(work.catch(() => {}));
  }

  #pacing(policy: Policy): { paceMs: number; claimMs: number } {
    const { lease } = this.#policies(policy);
    if (lease === undefined) return UNLEASED;
    return { paceMs: lease.paceMs, claimMs: this.#parts.home.roundTripMs };
  }

  #bucketOf(policy: Policy): PoolBucket {
    return { policy, key: this.key, useMs: this.#policies(policy).useMs };
  }

  #policies(policy: Policy): RegionPolicies {
    return this.#parts.policiesOf(policy);
  }
}

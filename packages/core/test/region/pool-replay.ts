import type { Redis } from 'ioredis';
import { type Policy, parsePolicy } from '../../src/policy/policy.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import {
  type ClaimOrder,
  type PoolAnswer,
  type PoolBucket,
  RegionPool,
} from '../../src/store/redis/region-pool.js';
import type { Script } from '../../src/store/redis/script.js';
import type { Claim, Grant, LeaseReport, Store } from '../../src/store/store.js';
import {
  checks,
  heartbeat,
  plainChecks,
  region as regionScript,
} from '../../src/testing/frozen-scripts.generated.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import type { Act, Fate, PoolHistory } from './pool-histories.js';

const CLAIM_MS = 4;
const PATIENCE_MS = 150;
const USE_MS = 600;
const START_MS = 1_000_000_000_000;

/** Who sees to it that a spent lease is told, and spends it as late as it may. */
interface Lent {
  readonly epoch: number;
  readonly endsAtMs: number;
  left: number;
  spent: number;
}

export interface PoolReplay {
  /** The first admission that was one too many at the home store's clock. */
  overshoot: string | undefined;
  /** What does not add up. */
  readonly faults: string[];
  readonly seen: Record<string, number>;
}

/** What the home store has admitted and the regions have spent, against one exact bucket. */
class Meter {
  readonly #policy: Policy;
  #level: number;
  #sinceMs = START_MS;
  overshoot: string | undefined;

  constructor(policy: Policy) {
    this.#policy = policy;
    this.#level = policy.burst * policy.windowMs;
  }

  /** Below 0: they came back. */
  spent(permits: number, atMs: number, what: string): void {
    const { burst, limit, windowMs } = this.#policy;
    const full = burst * windowMs;
    this.#level = Math.min(full, this.#level + (atMs - this.#sinceMs) * limit);
    this.#sinceMs = atMs;
    this.#level = Math.min(full, this.#level - permits * windowMs);
    if (this.#level < 0) {
      this.overshoot ??= `${-this.#level / windowMs} too many at ${atMs - START_MS}: ${what}`;
    }
  }
}

/** What a region was granted and has told, by epoch of the home store. */
class Ledger {
  readonly granted = new Map<number, number>();
  readonly told = new Map<number, number>();

  static add(to: Map<number, number>, epoch: number, permits: number): void {
    to.set(epoch, (to.get(epoch) ?? 0) + permits);
  }

  get excess(): string | undefined {
    for (const [epoch, told] of this.told) {
      const granted = this.granted.get(epoch) ?? 0;
      if (told > granted) return `${told} told of ${granted} that were granted`;
    }
    return undefined;
  }
}

/** One region: its clock, its pool, and two replicas that are lent permits. */
class Region {
  readonly clock: { nowMs(): number };
  readonly pool: RegionPool;
  readonly bucket: PoolBucket;
  readonly ledger = new Ledger();
  readonly lent: Lent[][] = [[], []];
  turns = 0;
  claims = 0;
  /** What was spent here last and has not been put back. */
  last: { permits: number; takenAtMs: number } | undefined;
  offsetMs = 0;

  constructor(
    client: Redis,
    policy: Policy,
    key: string,
    rate: number,
    home: ManualClock,
    i: number,
    script: Script,
  ) {
    // They are of different times altogether.
    const startMs = START_MS + i * 86_400_000;
    this.clock = {
      nowMs: () => Math.floor(startMs + this.offsetMs + (home.nowMs() - START_MS) * rate),
    };
    this.pool = new RegionPool(client, `${key}-${i}`, {
      scripts: { plainChecks, checks, heartbeat, region: script },
      extraArgs: () => [this.clock.nowMs()],
      clock: this.clock,
    });
    this.bucket = { policy, key: 'k', useMs: USE_MS };
  }
}

/**
 * A home store and three regions, each with a clock of its own. Things happen one after the other, in
 * the order of the home store's time.
 */
class PoolWorld {
  readonly meter: Meter;
  readonly faults: string[] = [];
  readonly seen: Record<string, number> = {};
  readonly #clock = new ManualClock(START_MS);
  readonly #home: Store = memoryStore({ clock: this.#clock });
  readonly #policy: Policy;
  readonly #regions: readonly Region[];
  readonly #due: { atMs: number; run: () => Promise<void> }[] = [];

  constructor(
    client: Redis,
    key: string,
    { limit, burst, ttlMs, rates }: PoolHistory,
    script: Script,
  ) {
    const lease = { ttl: ttlMs, maxShare: 0.8 };
    this.#policy = parsePolicy('p', { limit, burst, window: '1s', lease }, '');
    this.meter = new Meter(this.#policy);
    this.#regions = rates.map(
      (rate, i) => new Region(client, this.#policy, key, rate, this.#clock, i, script),
    );
  }

  at(atMs: number, run: () => Promise<void>): void {
    const i = this.#due.findIndex((due) => due.atMs > atMs);
    this.#due.splice(i < 0 ? this.#due.length : i, 0, { atMs, run });
  }

  after(ms: number, run: () => Promise<void>): void {
    this.at(this.#clock.nowMs() + ms, run);
  }

  async run({ steps }: PoolHistory): Promise<void> {
    let atMs = START_MS;
    for (const { afterMs, region, act } of steps) {
      atMs += afterMs;
      this.at(atMs, () => this.#act(this.#regions[region] as Region, act));
    }
    for (let next = this.#due.shift(); next !== undefined; next = this.#due.shift()) {
      this.#clock.set(next.atMs);
      await next.run();
    }
    for (const { ledger } of this.#regions) {
      if (ledger.excess !== undefined) this.faults.push(ledger.excess);
    }
    this.#clock.advance(60_000);
    const { remaining } = await this.#home.consume(this.#policy, 'k', 0);
    if (remaining !== this.#policy.burst) this.faults.push(`${remaining} left after a minute`);
    await this.#home.close();
  }

  #see(what: string, count = 1): void {
    this.seen[what] = (this.seen[what] ?? 0) + count;
  }

  #spend(permits: number, what: string): void {
    if (permits === 0) return;
    this.#see(what, permits);
    this.meter.spent(permits, this.#clock.nowMs(), what);
  }

  async #act(region: Region, act: Act): Promise<void> {
    switch (act.did) {
      case 'take':
        return this.#take(region, act.costs, act.fate);
      case 'lend':
        return this.#lend(region, act);
      case 'settle':
        return this.#take(region, [], act.fate);
      case 'put back':
        return this.#putBack(region);
      case 'empty':
        this.#see('emptied');
        return region.pool.forget(region.bucket);
      case 'step':
        // A bucket that is in use: what was asked of it last was asked just now.
        await this.#ask(region, []);
        region.offsetMs += act.byMs;
        this.#see('stepped');
        await this.#ask(region, []);
    }
  }

  async #ask(
    region: Region,
    costs: readonly number[],
    lending: { holder: number; turn: number; reports: readonly LeaseReport[]; lend: number } = {
      holder: 0,
      turn: 0,
      reports: [],
      lend: 0,
    },
    mayClaim = false,
  ): Promise<PoolAnswer | undefined> {
    const answer = await region.pool.take(region.bucket, {
      mayClaim,
      isCut: false,
      horizonMs: 400,
      mostPermits: this.#policy.lease?.share ?? 0,
      patienceMs: PATIENCE_MS,
      claimMs: CLAIM_MS,
      lentMs: 120,
      costs,
      ...lending,
    });
    answer?.outcomes.forEach((outcome, i) => {
      const cost = costs[i] as number;
      if (outcome !== 'taken' || cost === 0) return;
      this.#spend(cost, 'by the region');
      region.last = { permits: cost, takenAtMs: answer.grantedAtMs };
    });
    return answer;
  }

  async #take(region: Region, costs: readonly number[] | 'all', fate: Fate): Promise<void> {
    let list = costs;
    if (list === 'all') {
      const look = await this.#ask(region, []);
      list = Array.from({ length: (look?.left ?? 0) + 1 }, () => 1);
    }
    const answer = await this.#ask(region, list, undefined, true);
    const dry = list.filter((_, i) => answer?.outcomes[i] === 'ask');
    if (answer?.order !== undefined) this.#claim(region, answer, answer.order, dry, fate);
    else this.after(fate.thereMs, () => this.#askHome(dry));
  }

  /** Somebody takes all that the home store has left. */
  async #drain(): Promise<void> {
    const { remaining } = await this.#home.consume(this.#policy, 'k', 0);
    await this.#askHome([remaining]);
  }

  /** All that is to be had anywhere is spent. */
  async #rush(region: Region): Promise<void> {
    await this.#drain();
    const look = await this.#ask(region, []);
    await this.#ask(
      region,
      Array.from({ length: look?.left ?? 0 }, () => 1),
    );
    this.#see('rushed');
  }

  async #askHome(costs: readonly number[]): Promise<void> {
    for (const cost of costs) {
      const { allowed } = await this.#home.consume(this.#policy, 'k', cost);
      if (allowed) this.#spend(cost, 'by the home store');
    }
  }

  #claim(
    region: Region,
    answer: PoolAnswer,
    order: ClaimOrder,
    costs: readonly number[],
    fate: Fate,
  ) {
    const claim: Claim = {
      policy: this.#policy,
      key: 'k',
      holder: this.#regions.indexOf(region) + 1,
      turn: ++region.claims,
      reports: order.reports,
      costs,
      extra: order.extra,
    };
    this.#see('claims');
    this.#see('asked for', order.extra);
    for (const { epoch, spent, returned } of order.reports) {
      Ledger.add(region.ledger.told, epoch, spent + returned);
    }
    const arrive = (isAnswered: boolean) => async () => {
      if (fate.rushed) await this.#drain();
      const grant = await this.#home.claim(claim);
      if (grant === undefined) return;
      grant.decisions.forEach(({ allowed }, i) => {
        if (allowed) this.#spend(costs[i] as number, 'by the home store');
      });
      this.#see('granted', grant.permits);
      Ledger.add(region.ledger.granted, grant.epoch, grant.permits);
      if (fate.rushed) await this.#drain();
      if (!isAnswered) return;
      // What was kept for too long is there once the home store has written it off.
      if (grant.permits > 0) this.after(grant.lifeMs + fate.lookMs, () => this.#rush(region));
      this.after(fate.backMs, () => this.#granted(region, order, grant, fate.toldTwice));
      if (grant.decisions.every(({ allowed }) => allowed)) return;
      this.after(fate.backMs, () =>
        region.pool.denied(region.bucket, answer.nowMs, 1, 5, { paceMs: 1, claimMs: CLAIM_MS }),
      );
    };
    if (fate.lost !== 'there') this.after(fate.thereMs, arrive(fate.lost === 'no'));
    if (fate.againMs !== undefined) this.after(fate.againMs, arrive(false));
    this.after(fate.patienceMs, () => region.pool.failed(region.bucket, order.number, 1));
  }

  async #granted(region: Region, order: ClaimOrder, grant: Grant, twice: boolean): Promise<void> {
    const { epoch, permits, lifeMs, left } = grant;
    const told = {
      number: order.number,
      epoch,
      permits,
      lifeMs,
      decidedAtMs: left.decidedAtMs,
      left: left.remaining,
      refillAfterMs: left.refillAfterMs,
      resetAfterMs: left.resetAfterMs,
      isShort: permits < order.extra,
    };
    const pacing = { paceMs: 1, claimMs: CLAIM_MS };
    await region.pool.granted(region.bucket, told, pacing);
    if (twice) await region.pool.granted(region.bucket, told, pacing);
  }

  async #lend(
    region: Region,
    { holder, permits, spent, returns, twice, fate }: Act & { did: 'lend' },
  ) {
    const held = region.lent[holder] as Lent[];
    const nowMs = this.#clock.nowMs();
    const reports = held.splice(0).map((lent): LeaseReport => {
      const now = lent.endsAtMs > nowMs ? Math.floor(lent.left * spent) : 0;
      this.#spend(now, 'by a replica');
      const left = lent.left - now;
      const isOver = returns || lent.endsAtMs <= nowMs;
      if (!isOver) held.push({ ...lent, left, spent: 0 });
      return { epoch: lent.epoch, spent: lent.spent + now, returned: isOver ? left : 0 };
    });
    const lending = {
      holder: holder + 1,
      turn: ++region.turns,
      reports,
      lend: permits,
    };
    const answer = await this.#ask(region, [], lending, true);
    // As a client does that lost its connection.
    if (twice) this.after(fate.thereMs, async () => void (await this.#ask(region, [], lending)));
    if (answer === undefined) return;
    if (answer.order !== undefined) this.#claim(region, answer, answer.order, [], fate);
    const { lent } = answer;
    if (lent.permits === 0) return;
    this.#see('lent');
    const endsAtMs = nowMs + Math.floor(lent.lifeMs * 0.95) - 1;
    if (endsAtMs <= nowMs) return;
    const lease: Lent = { epoch: lent.epoch, endsAtMs, left: lent.permits, spent: 0 };
    held.push(lease);
    // What is left is spent as late as it may be.
    this.at(endsAtMs - 1, async () => {
      const own = held.find(
        ({ epoch, endsAtMs: at }) => epoch === lease.epoch && at === lease.endsAtMs,
      );
      if (own === undefined || this.#clock.nowMs() >= endsAtMs) return;
      this.#spend(own.left, 'by a replica');
      Object.assign(own, { left: 0, spent: own.spent + own.left });
    });
  }

  async #putBack(region: Region): Promise<void> {
    const { last } = region;
    if (last === undefined) return;
    region.last = undefined;
    if (!(await region.pool.putBack(region.bucket, last.permits, last.takenAtMs))) return;
    this.#spend(-last.permits, 'put back');
  }
}

let worlds = 0;

/** @param script of the pools */
export async function replayPools(
  client: Redis,
  prefix: string,
  history: PoolHistory,
  script: Script = regionScript,
): Promise<PoolReplay> {
  const world = new PoolWorld(client, `${prefix}${++worlds}`, history, script);
  await world.run(history);
  return { overshoot: world.meter.overshoot, faults: world.faults, seen: world.seen };
}

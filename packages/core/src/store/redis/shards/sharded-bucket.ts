import type { Decision } from '../../../decision/decision.js';
import type { Clock } from '../../../time/clock.js';
import { type ShardPolicy, splitBy } from './shares.js';
import type { Spread } from './spread.js';
import type { SubBuckets } from './sub-buckets.js';
import { markTaken } from './taken-from.js';

/** How often an overcharge looks for what is there: others may be faster. */
const OVERCHARGE_ROUNDS = 16;

/** What a look around found out. */
interface Look {
  /** The sub-buckets that did not answer, and why. */
  readonly lost: ReadonlyMap<number, unknown>;
  /** The store's clock, as one of those had it that did; undefined where none did. */
  readonly atMs: number | undefined;
}

/** What a sub-bucket said of a cost. */
interface Found {
  readonly cost: number;
  readonly decision: Decision;
}

/** Permits taken of one sub-bucket. */
interface Taken {
  readonly index: number;
  readonly permits: number;
  readonly decision: Decision;
}

/**
 * One sharded bucket, asked. What it decides is of the whole: that a cost fits where one sub-bucket has
 * it, or several together; that it does not when all of them have been seen not to.
 *
 * Costs that are gathered from several are not taken at one instant: where a part is lost to others
 * meanwhile, all parts are put back and the call is denied. Until they are back the bucket is too
 * strict, never too generous.
 */
export class ShardedBucket {
  readonly #spread: Spread;
  readonly #key: string;
  readonly #store: SubBuckets;
  readonly #clock: Clock;
  /** The looks of this turn, by cost: calls of one turn that do not fit share one. */
  readonly #looks = new Map<number, Promise<Look>>();

  constructor(spread: Spread, key: string, store: SubBuckets, clock: Clock) {
    this.#spread = spread;
    this.#key = key;
    this.#store = store;
    this.#clock = clock;
  }

  get spread(): Spread {
    return this.#spread;
  }

  async consume(cost: number): Promise<Decision> {
    const { policy } = this.#spread;
    if (cost === 0 || cost > policy.burst) return this.look(cost);
    const home = this.#spread.firstFor(cost, this.#clock.nowMs());
    if (home === undefined) return this.#seek(cost);
    const decision = await this.#take(home, cost);
    if (decision.allowed) return this.#allow(cost, home, decision);
    return this.#seek(cost, { index: home, atMs: decision.decidedAtMs });
  }

  /** What a cost would be answered; takes nothing. */
  async look(cost: number): Promise<Decision> {
    const { policy } = this.#spread;
    const { lost, atMs = 0 } = await this.#lookAt(this.#spread.all, cost);
    throwIfAny(lost);
    const nowMs = this.#clock.nowMs();
    const fits = cost <= policy.burst && this.#spread.permitsOfAll(nowMs) >= cost;
    return this.#spread.decide(fits, cost, 0, atMs, nowMs);
  }

  /**
   * Puts permits back: into the sub-bucket they were taken from where windows are counted and it is
   * known; else where there is room, most to the emptiest: also debt is paid off evenly.
   *
   * @param index the one they were taken from
   */
  async refund(
    permits: number,
    atMs: number | undefined,
    index: number | undefined,
  ): Promise<Decision> {
    const { policy } = this.#spread;
    if (permits === 0) return this.look(0);
    const isBucket = policy.algorithm === 'token-bucket' || policy.algorithm === 'gcra';
    if (!isBucket && index !== undefined) {
      // In one turn, and ahead of the look.
      const refunded = this.#putBack(index, permits, atMs);
      const [decision] = await Promise.all([refunded, this.look(0)]);
      this.#note(index, decision, 0);
      return this.#found(index, decision);
    }
    const { lost } = await this.#lookAt(this.#spread.all, 0);
    throwIfAny(lost);
    const nowMs = this.#clock.nowMs();
    const rooms = this.#spread.parts.map(({ burst }, i) => burst - this.#spread.permits(i, nowMs));
    const parts = splitBy(permits, rooms);
    // What has no room comes back to one that is full: that is, not at all.
    parts[0] = (parts[0] as number) + permits - sumOf(parts);
    return this.#correct(parts, (part, own) => this.#putBack(part, own, atMs));
  }

  /**
   * Takes permits, fit or not: what is there, then of each its part of the overdraft. What is there is
   * taken where it fits, as others may take it meanwhile: by force one would go into debt while others
   * have permits, and below its overdraft it would forget.
   */
  async overcharge(permits: number): Promise<Decision> {
    const { parts } = this.#spread;
    let rest = permits;
    for (let round = 0; round < OVERCHARGE_ROUNDS && rest > 0; round++) {
      const { lost } = await this.#lookAt(this.#spread.all, 0);
      throwIfAny(lost);
      if (this.#there(lost) === 0) break;
      const taken = await this.#takeParts(rest, lost);
      rest -= sumOf(taken.map((one) => one.permits));
    }
    const owed = splitBy(
      rest,
      parts.map(({ overdraft }) => overdraft),
    );
    return this.#correct(owed, (index, own) => {
      this.#spread.expect(index, -own, this.#clock.nowMs());
      return this.#store.overcharge(this.#part(index), this.#key, own);
    });
  }

  async reset(): Promise<void> {
    const { parts } = this.#spread;
    await Promise.all(parts.map((part) => this.#store.reset(part, this.#key)));
    this.#spread.clear();
  }

  /** Looks at those of which nothing was heard. */
  async lookAtUnheard(): Promise<void> {
    const unheard = this.#spread.all.filter((index) => !this.#spread.isHeard(index));
    if (unheard.length > 0) await this.#lookNow(unheard, 0);
  }

  /** After `first` had no room: asks one that is believed to have, then looks around. */
  async #seek(cost: number, first?: { index: number; atMs: number }): Promise<Decision> {
    const spread = this.#spread;
    if (first !== undefined) {
      const taken = await this.#takeFromFullest(cost, new Set([first.index]));
      if (taken?.allowed) return taken;
    }
    // Several may have together what none has: of a cost of 1 that cannot be.
    const asked = cost === 1 ? spread.unknown(cost, this.#clock.nowMs()) : spread.all;
    const { lost, atMs = first?.atMs ?? 0 } = await this.#lookAt(asked, cost);
    const tried = new Set(lost.keys());
    for (;;) {
      const taken = await this.#takeFromFullest(cost, tried);
      if (taken === undefined) break;
      if (taken.allowed) return taken;
    }
    const gathered = await this.#gather(cost, lost);
    if (gathered !== undefined) return gathered;
    throwIfAny(lost);
    return spread.decide(false, cost, 0, atMs, this.#clock.nowMs());
  }

  /**
   * Asks the one that is believed to have most; undefined where none of those not `tried` has enough.
   * @returns of the whole where it is allowed
   */
  async #takeFromFullest(cost: number, tried: Set<number>): Promise<Decision | undefined> {
    const nowMs = this.#clock.nowMs();
    const index = this.#spread.fullest(cost, nowMs, tried);
    if (index === undefined) return undefined;
    tried.add(index);
    // The next call of this turn is to see that this one is there already.
    this.#spread.expect(index, -cost, nowMs);
    const decision = await this.#take(index, cost);
    return decision.allowed ? this.#allow(cost, index, decision) : decision;
  }

  /** Takes the parts of a cost from several; undefined, with all put back, where one is not there. */
  async #gather(cost: number, lost: Look['lost']): Promise<Decision | undefined> {
    if (cost === 1 || this.#there(lost) < cost) return undefined;
    let failed: { readonly reason: unknown } | undefined;
    const taken = await this.#takeParts(cost, lost, (reason) => {
      failed = { reason };
    });
    if (sumOf(taken.map(({ permits }) => permits)) === cost) {
      const { index, decision } = taken[0] as Taken;
      return this.#spread.decide(true, cost, index, decision.decidedAtMs, this.#clock.nowMs());
    }
    const back = taken.map(async ({ index, permits, decision }) => {
      const { decidedAtMs } = decision;
      this.#note(index, await this.#putBack(index, permits, decidedAtMs), 0);
    });
    await Promise.allSettled(back);
    if (failed !== undefined) throw failed.reason;
    return undefined;
  }

  /**
   * Takes up to `permits` in one turn, of each in proportion to what it is believed to have: so others
   * who do the same at once do not all ask for the same.
   * @param failed told why one did not answer; left out: that is thrown
   * @returns what was there in fact
   */
  async #takeParts(
    permits: number,
    lost: Look['lost'],
    failed?: (reason: unknown) => void,
  ): Promise<Taken[]> {
    const nowMs = this.#clock.nowMs();
    const there = this.#spread.all.map((index) => this.#thereAt(index, lost, nowMs));
    const asked = splitBy(permits, there).map(async (part, index) => {
      if (part === 0) return [];
      this.#spread.expect(index, -part, nowMs);
      try {
        const decision = await this.#take(index, part);
        return decision.allowed ? [{ index, permits: part, decision }] : [];
      } catch (error) {
        if (failed === undefined) throw error;
        failed(error);
        return [];
      }
    });
    return (await Promise.all(asked)).flat();
  }

  /** Permits that those which answered are believed to have together. */
  #there(lost: Look['lost']): number {
    const nowMs = this.#clock.nowMs();
    return sumOf(this.#spread.all.map((index) => this.#thereAt(index, lost, nowMs)));
  }

  #thereAt(index: number, lost: Look['lost'], nowMs: number): number {
    return lost.has(index) ? 0 : this.#spread.permits(index, nowMs);
  }

  #allow(cost: number, index: number, { decidedAtMs }: Decision): Decision {
    const nowMs = this.#clock.nowMs();
    this.#spread.use(index, nowMs);
    return this.#spread.decide(true, cost, index, markTaken(decidedAtMs, index), nowMs);
  }

  async #take(index: number, cost: number): Promise<Decision> {
    const sentAtMs = this.#clock.nowMs();
    this.#spread.asked(index, sentAtMs);
    try {
      const decision = await this.#store.consume(this.#part(index), this.#key, cost);
      this.#note(index, decision, cost, sentAtMs);
      return decision;
    } catch (error) {
      // The others may be on servers that do answer.
      this.#spread.leave(index, this.#clock.nowMs());
      throw error;
    }
  }

  /** Looks in one turn; shared with the calls of the same turn and cost. */
  #lookAt(indexes: readonly number[], cost: number): Promise<Look> {
    const known = this.#looks.get(cost);
    if (known !== undefined) return known;
    const look = this.#lookNow(indexes, cost);
    this.#looks.set(cost, look);
    setImmediate(() => this.#looks.delete(cost));
    return look;
  }

  async #lookNow(indexes: readonly number[], cost: number): Promise<Look> {
    const spread = this.#spread;
    const { parts, policy } = spread;
    const sentAtMs = this.#clock.nowMs();
    const shares = splitBy(
      Math.min(cost, policy.burst),
      parts.map(({ burst }) => burst),
    );
    const lost = new Map<number, unknown>();
    let atMs: number | undefined;
    const looks = indexes.map(async (index) => {
      try {
        const [own, too] = await this.#lookAtOne(index, cost, shares[index] as number);
        const nowMs = this.#clock.nowMs();
        atMs = own.decision.decidedAtMs;
        spread.note(index, own.decision, own.cost, sentAtMs, nowMs);
        if (too !== undefined) spread.noteToo(index, too.decision, too.cost, sentAtMs, nowMs);
      } catch (error) {
        lost.set(index, error);
        spread.leave(index, this.#clock.nowMs());
      }
    });
    await Promise.all(looks);
    return { lost, atMs };
  }

  /**
   * What is left says when a cost of 1 fits, and that look is the cheapest. A greater one is asked by
   * itself, where it can fit, and its share: only the store can tell when that will.
   */
  async #lookAtOne(index: number, cost: number, share: number): Promise<[Found, Found?]> {
    const part = this.#part(index);
    if (cost <= 1) {
      return [{ cost: 0, decision: await this.#store.consume(part, this.#key, 0) }];
    }
    const costs = cost <= part.burst ? [share, cost] : [share];
    const decisions = await this.#store.look(part, this.#key, costs);
    return decisions.map((decision, i) => ({ cost: costs[i], decision })) as [Found, Found?];
  }

  /** Makes corrections in one turn. @param permits of each sub-bucket; of 0 nothing is asked */
  async #correct(
    permits: readonly number[],
    make: (index: number, permits: number) => Promise<Decision>,
  ): Promise<Decision> {
    let last: Decision | undefined;
    let asked = 0;
    const made = permits.map(async (own, index) => {
      if (own === 0) return;
      const decision = await make(index, own);
      this.#note(index, decision, 0);
      last = decision;
      asked = index;
    });
    await Promise.all(made);
    return last === undefined ? this.look(0) : this.#found(asked, last);
  }

  #putBack(index: number, permits: number, atMs: number | undefined): Promise<Decision> {
    this.#spread.expect(index, permits, this.#clock.nowMs());
    return this.#store.refund(this.#part(index), this.#key, permits, atMs);
  }

  /** As a cost of 0 would be answered after `decision`. */
  #found(index: number, { decidedAtMs }: Decision): Decision {
    return this.#spread.decide(true, 0, index, decidedAtMs, this.#clock.nowMs());
  }

  #note(index: number, decision: Decision, cost: number, sentAtMs = this.#clock.nowMs()): void {
    this.#spread.note(index, decision, cost, sentAtMs, this.#clock.nowMs());
  }

  #part(index: number): ShardPolicy {
    return this.#spread.parts[index] as ShardPolicy;
  }
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}

/** A denial needs the word of all. */
function throwIfAny(lost: Look['lost']): void {
  for (const error of lost.values()) throw error;
}

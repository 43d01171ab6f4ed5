import type { Decision } from '../../src/decision/decision.js';
import { createLimiter, type Limiter } from '../../src/limiter/limiter.js';
import type { PolicyOptions } from '../../src/policy/policy.js';
import type { FleetRecord, Name } from './fleet-record.js';
import type { Moment } from './journal.js';
import { PATIENT } from './patient.js';
import type { Connection } from './virtual-network.js';
import type { VirtualTime } from './virtual-time.js';

interface Calls {
  readonly cost: number;
  readonly under: Name | 'both';
  /** Refunds every so many of the calls that were admitted; 0: none. */
  readonly refundsEach: number;
  readonly refundAfterMs: number;
}

/** What a replica does for a while: so many ticks, each of so many calls at once. */
export interface Phase extends Calls {
  readonly waitMs: number;
  readonly ticks: number;
  readonly everyMs: number;
  readonly calls: number;
}

export interface ReplicaPlan {
  readonly joinsAtMs: number;
  readonly clockStartMs: number;
  readonly clockRate: number;
  readonly phases: readonly Phase[];
  /** Behind its last phase. What a crash leaves under way still arrives, or does not. */
  readonly leaves: 'at the end' | 'in good order' | 'crashes' | 'crashes, with its messages';
}

/** The partition key of all calls. */
export const KEY = 'k';

type Keys = { readonly [N in Name]?: string };

const KEYS: { readonly [N in Phase['under']]: Keys } = {
  p: { p: KEY },
  q: { q: KEY },
  both: { p: KEY, q: KEY },
};

/** One limiter with a clock and a connection of its own, and the calls that an app makes there. */
export class Replica {
  readonly connection: Connection;
  readonly #time: VirtualTime;
  readonly #record: FleetRecord;
  readonly #plan: ReplicaPlan;
  readonly #limiter: Limiter<Name>;
  isCrashed = false;
  #isGone = false;
  /** Calls that wait for their decision. */
  open = 0;
  #admitted = 0;

  constructor(
    time: VirtualTime,
    record: FleetRecord,
    policies: { readonly [N in Name]: PolicyOptions },
    plan: ReplicaPlan,
    connection: Connection,
  ) {
    this.#time = time;
    this.#record = record;
    this.#plan = plan;
    this.connection = connection;
    const clock = time.clock(plan.clockStartMs, plan.clockRate);
    this.#limiter = createLimiter<Name>({
      policies,
      store: connection,
      fallback: PATIENT,
      clock,
    });
    this.#begin(0);
  }

  /** Where it is still there. */
  end(): void {
    if (!this.#isGone) this.#leave('in good order');
  }

  /** Spends what it holds. */
  spendAll(under: Name): void {
    if (this.#isGone) return;
    for (const cost of [64, 16, 4, 1]) {
      const calls = { under, cost, refundsEach: 0, refundAfterMs: 0 };
      for (;;) {
        const takenAt = this.#record.moment();
        const decision = this.#limiter.tryConsume(KEYS[under], { cost });
        if (decision?.origin !== 'lease') break;
        this.#answered(calls, decision, takenAt);
      }
    }
  }

  #begin(index: number): boolean {
    const phase = this.#plan.phases[index];
    if (phase === undefined) return this.#leave(this.#plan.leaves);
    this.#time.after(phase.waitMs, () => this.#tick(phase, phase.ticks, index));
    return false;
  }

  /** @returns whether a promise was made, here and below */
  #tick(phase: Phase, left: number, index: number): boolean {
    const open = this.open;
    for (let i = 0; i < phase.calls; i++) this.#call(phase);
    const asked = this.open > open;
    if (left === 1) return this.#begin(index + 1) || asked;
    this.#time.after(phase.everyMs, () => this.#tick(phase, left - 1, index));
    return asked;
  }

  #leave(how: ReplicaPlan['leaves']): boolean {
    if (how === 'at the end') return false;
    this.#isGone = true;
    if (how === 'in good order') {
      void this.#limiter.close();
      return true;
    }
    this.isCrashed = true;
    this.#record.seen.crashes++;
    this.connection.cut(how === 'crashes, with its messages');
    return false;
  }

  #call(calls: Calls): void {
    const { under, cost } = calls;
    const keys = KEYS[under];
    const calledAt = this.#record.moment();
    const atOnce = this.#limiter.tryConsume(keys, { cost });
    if (atOnce !== undefined) {
      this.#answered(calls, atOnce, calledAt);
      return;
    }
    this.open++;
    this.#limiter.consume(keys, { cost }).then(
      (decision) => {
        this.open--;
        // What several policies take of leases they take at once, before the store is asked.
        this.#answered(calls, decision, under === 'both' ? calledAt : this.#record.moment());
      },
      () => {
        this.open--;
      },
    );
  }

  #answered(calls: Calls, decision: Decision, takenAt: Moment): void {
    const { journal, faults, seen } = this.#record;
    if (!decision.allowed) {
      seen.denied++;
      return;
    }
    if (this.isCrashed) faults.push(`admitted by a replica that is dead: ${takenAt.atMs}`);
    const taken = new Map<string, number>();
    for (const { policy, origin, decidedAtMs } of decision.each ?? [decision]) {
      const ofLease = origin === 'lease';
      taken.set(policy, ofLease ? takenAt.atMs : decidedAtMs);
      if (!ofLease) continue;
      seen['by a lease']++;
      journal.write(takenAt, policy, { did: 'admitted', permits: calls.cost, by: 'lease' });
    }
    this.#admitted++;
    if (calls.refundsEach > 0 && this.#admitted % calls.refundsEach === 0) {
      this.#time.after(calls.refundAfterMs, () => this.#refund(calls, decision, taken));
    }
  }

  #refund({ under, cost }: Calls, decision: Decision, taken: ReadonlyMap<string, number>): void {
    if (this.#isGone) return;
    this.connection.cause = taken;
    // One after the other, as one that is lost says nothing of another that was not.
    for (const [name, key] of Object.entries(KEYS[under])) {
      const own = (decision.each ?? [decision]).find(({ policy }) => policy === name);
      this.#refundOne({ [name]: key }, cost, own as Decision, taken.get(name) as number);
    }
    this.connection.cause = undefined;
  }

  #refundOne(keys: Record<string, string>, cost: number, decision: Decision, takenAtMs: number) {
    const { journal, seen } = this.#record;
    const moment = this.#record.moment();
    const note = ({ policy, origin }: Decision) => {
      // The store was not asked: what was spent of a lease is held again, from the call on.
      if (origin !== 'lease') return;
      seen['refunds to a lease']++;
      journal.write(moment, policy, { did: 'refunded', permits: cost, takenAtMs });
    };
    // A refund that is lost leaves the permits spent.
    this.#limiter.refund(keys, { cost, decision }).then(note, () => {});
  }
}

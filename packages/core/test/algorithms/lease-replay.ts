import type { Policy } from '../../src/policy/policy.js';
import type { Claim, Grant, LeaseReport, Store } from '../../src/store/store.js';
import type { ManualClock } from '../../src/testing/manual-clock.js';
import { type ClaimStep, HOLDERS, type LeaseHistory, type Step } from './lease-histories.js';

const START_MS = 1_699_920_000_000;

/** Permits that were let through at one instant, by the store or by one that held them. */
export interface Admission {
  readonly atMs: number;
  readonly permits: number;
  /** By the store's account then: how long until the bucket is full, or its window over. */
  readonly resetAfterMs: number;
}

export interface Replayed {
  readonly admissions: readonly Admission[];
  /** How many permits were spent from leases. */
  readonly leased: number;
  /** How many claims had no answer, as they had been heard before. */
  readonly void: number;
}

/** Permits of one grant. */
interface Lease {
  readonly epoch: number;
  readonly endsAtMs: number;
  left: number;
  untold: number;
}

/** One that holds permits and spends them while it may, told late or never. */
class Replica {
  leases: Lease[] = [];
  readonly #id: number;
  #turn = 0;

  constructor(id: number) {
    this.#id = id;
  }

  /** What it would send now. It will not tell the same again, nor spend what it returns. */
  claim(policy: Policy, key: string, { extra, costs, close }: ClaimStep, nowMs: number): Claim {
    const reports: LeaseReport[] = [];
    for (const lease of this.leases) {
      const returned = close || lease.endsAtMs <= nowMs ? lease.left : 0;
      reports.push({ epoch: lease.epoch, spent: lease.untold, returned });
      lease.left -= returned;
      lease.untold = 0;
    }
    this.leases = this.leases.filter(({ left }) => left > 0);
    return { policy, key, holder: this.#id, turn: ++this.#turn, reports, costs, extra };
  }

  receive({ epoch, permits }: Grant, endsAtMs: number): void {
    if (permits > 0) this.leases.push({ epoch, endsAtMs, left: permits, untold: 0 });
  }

  /** Up to as many permits as it may spend. @returns how many */
  spend(permits: number, nowMs: number): number {
    let spent = 0;
    for (const lease of this.leases) {
      if (nowMs >= lease.endsAtMs) continue;
      const some = Math.min(permits - spent, lease.left);
      lease.left -= some;
      lease.untold += some;
      spent += some;
    }
    return spent;
  }
}

/** A claim on its way. */
interface Message {
  readonly claim: Claim;
  readonly to: Replica;
  readonly lost: boolean;
  /** The step before which it is heard. */
  readonly at: number;
}

/**
 * Has the steps of a history happen to one bucket.
 * @param overstay how many times as long as they may holders spend their permits
 */
export async function replayLeases(
  store: Store,
  clock: ManualClock,
  key: string,
  { policies, plain, steps }: LeaseHistory,
  overstay = 1,
): Promise<Replayed> {
  const replicas = Array.from({ length: HOLDERS }, (_, id) => new Replica(id));
  const admissions: Admission[] = [];
  let messages: Message[] = [];
  const seen = { leased: 0, void: 0 };
  const admit = (permits: number, resetAfterMs: number) => {
    if (permits > 0) admissions.push({ atMs: clock.nowMs(), permits, resetAfterMs });
  };

  const consume = async (policy: Policy, cost: number) => {
    const { allowed, resetAfterMs } = await store.consume(policy, key, cost);
    if (allowed) admit(cost, resetAfterMs);
  };
  const drain = async () => consume(plain, (await store.consume(plain, key, 0)).remaining);
  const spend = async (replica: Replica, permits: number) => {
    const spent = replica.spend(permits, clock.nowMs());
    const { resetAfterMs } = await store.consume(plain, key, 0);
    admit(spent, resetAfterMs);
    seen.leased += spent;
  };
  const hear = async ({ claim, to, lost }: Message) => {
    const grant = await store.claim(claim);
    if (grant === undefined) seen.void++;
    if (grant === undefined || lost) return;
    grant.decisions.forEach(({ allowed, resetAfterMs }, i) => {
      if (allowed) admit(claim.costs[i] as number, resetAfterMs);
    });
    to.receive(grant, clock.nowMs() + grant.lifeMs * overstay);
  };
  const hearAll = async (step: number) => {
    const due = messages.filter(({ at }) => at <= step);
    messages = messages.filter(({ at }) => at > step);
    for (const message of due.sort((a, b) => a.at - b.at)) await hear(message);
  };
  const perform = async (step: Step, index: number) => {
    const replica = replicas[step.holder] as Replica;
    switch (step.do) {
      case 'claim': {
        const policy = policies[step.terms % policies.length] as Policy;
        const claim = replica.claim(policy, key, step, clock.nowMs());
        const message = { claim, to: replica, lost: step.lost, at: index + step.delays };
        messages.push(message);
        if (step.again !== undefined) messages.push({ ...message, at: message.at + step.again });
        return;
      }
      case 'consume':
        return consume(step.plain ? plain : (policies[0] as Policy), step.cost);
      case 'drain':
        return drain();
      case 'spend':
        return spend(replica, step.permits);
      case 'spend late': {
        const alive = replica.leases.filter(({ endsAtMs }) => endsAtMs > clock.nowMs());
        if (alive[0] !== undefined) clock.set(alive[0].endsAtMs - 1);
        if (step.drain) await drain();
        return spend(replica, Number.POSITIVE_INFINITY);
      }
      case 'crash':
        replica.leases = [];
    }
  };

  clock.set(START_MS);
  for (const [index, step] of steps.entries()) {
    clock.advance(step.afterMs);
    await hearAll(index - 1);
    await perform(step, index);
    await hearAll(index);
  }
  return { admissions, ...seen };
}

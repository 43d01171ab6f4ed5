import type { Decision } from '../../src/decision/decision.js';
import type { Policy } from '../../src/policy/policy.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import type { Charge, Store } from '../../src/store/store.js';
import type { Clock } from '../../src/time/clock.js';
import type { FleetPlan } from './fleet-plans.js';
import { FleetRecord, type Name, type Sight } from './fleet-record.js';
import { KEY, Replica } from './fleet-replica.js';
import { LAWS } from './laws.js';
import { VirtualNetwork } from './virtual-network.js';
import { VirtualTime } from './virtual-time.js';

/** What became of a fleet. */
export interface Outcome {
  /** What went against a rule; empty: all is well. */
  readonly faults: readonly string[];
  readonly seen: Readonly<Record<Sight, number>>;
}

/** What is tried in a rush counts as demand and so sets off claims, which may meet a rush each. */
const MAX_RUSHES = 100;

/** Runs a fleet to its end, and until nothing is left of it at the store. */
export async function runFleet(
  plan: FleetPlan,
  openStore: (clock: Clock) => Store = (clock) => memoryStore({ clock }),
): Promise<Outcome> {
  const fleet = new Fleet(plan, openStore);
  return fleet.run();
}

class Fleet {
  readonly #time: VirtualTime;
  readonly #plan: FleetPlan;
  readonly #record: FleetRecord;
  readonly #store: Store;
  readonly #network: VirtualNetwork;
  readonly #replicas: Replica[] = [];
  #rushes = 0;

  constructor(plan: FleetPlan, openStore: (clock: Clock) => Store) {
    this.#plan = plan;
    this.#time = new VirtualTime(plan.startMs);
    this.#record = new FleetRecord(this.#time, plan.policies);
    this.#store = openStore({ nowMs: () => Math.floor(this.#time.nowMs) });
    this.#network = new VirtualNetwork(this.#time, this.#store, plan.fates, {
      decided: (charges, decisions) => this.#decided(charges, decisions),
      refunded: (policy, permits, takenAtMs, cause) =>
        this.#refunded(policy, permits, takenAtMs, cause),
      rushed: (policies) => policies.forEach((policy) => void this.#rush(policy)),
      changed: (policies) => {
        for (const policy of policies) if (policy.algorithm === 'fixed-window') this.#look(policy);
      },
    });
  }

  async run(): Promise<Outcome> {
    const { replicas, rushes, policies } = this.#plan;
    for (const plan of replicas) {
      this.#time.after(plan.joinsAtMs, () => {
        const connection = this.#network.connect();
        const replica = new Replica(this.#time, this.#record, policies, plan, connection);
        this.#replicas.push(replica);
        return false;
      });
    }
    for (const { atMs, of } of rushes) {
      this.#time.after(atMs, () => {
        this.#rush(this.#record.policies.get(of) as Policy);
        return false;
      });
    }
    await this.#time.run();
    for (const replica of this.#replicas) replica.end();
    await this.#time.run();
    this.#checkPromises();
    this.#checkLaws();
    this.#checkNothingLeaks();
    await this.#store.close();
    return this.#record;
  }

  /** All that is there is spent at once, here and by every replica: any permit too many shows. */
  #rush(policy: Policy): void {
    if (this.#rushes++ >= MAX_RUSHES) return;
    const { remaining } = this.#store.tryConsume(policy, KEY, 0) as Decision;
    const decision = this.#store.tryConsume(policy, KEY, remaining) as Decision;
    if (policy.algorithm === 'fixed-window') this.#look(policy);
    this.#decided([{ policy, key: KEY, cost: remaining }], [decision]);
    for (const replica of this.#replicas) replica.spendAll(policy.name as Name);
  }

  #decided(charges: readonly Charge[], decisions: readonly Decision[]): void {
    const { seen, journal } = this.#record;
    if (!decisions.every(({ allowed }) => allowed)) return;
    charges.forEach(({ policy, cost }, i) => {
      if (decisions[i]?.wouldDeny || cost === 0) return;
      seen['by the store']++;
      const entry = { did: 'admitted', permits: cost, by: 'store' } as const;
      journal.write(this.#record.moment(), policy.name, entry);
    });
  }

  /** Without a cause it is what a replica puts back of a call that another policy denied later. */
  #refunded({ name }: Policy, permits: number, toldMs: number | undefined, cause: unknown): void {
    const { seen, journal } = this.#record;
    if (permits === 0) return;
    const takenAtMs = (cause as Map<string, number> | undefined)?.get(name) ?? (toldMs as number);
    seen.refunds++;
    journal.write(this.#record.moment(), name, { did: 'refunded', permits, takenAtMs });
  }

  #look(policy: Policy): Decision {
    const shown = this.#store.tryConsume(policy, KEY, 0) as Decision;
    const moment = this.#record.moment();
    const count = policy.limit - shown.remaining;
    const endsAtMs = moment.atMs + shown.resetAfterMs;
    this.#record.journal.write(moment, policy.name, { did: 'showed', count, endsAtMs });
    return shown;
  }

  #checkPromises(): void {
    const { seen, faults } = this.#record;
    this.#replicas.forEach((replica, i) => {
      const { unanswered, refused } = replica.connection;
      seen.lost += unanswered;
      seen.refused += refused;
      if (replica.open > 0 && unanswered === 0 && !replica.isCrashed) {
        faults.push(`${replica.open} calls of replica ${i} wait for ever`);
      }
    });
  }

  #checkLaws(): void {
    for (const [name, policy] of this.#record.policies) {
      const fault = LAWS[policy.algorithm]?.(policy, this.#record.journal.of(name));
      if (fault !== undefined) this.#record.faults.push(`${name}, ${policy.algorithm}: ${fault}`);
    }
  }

  #checkNothingLeaks(): void {
    const policies = [...this.#record.policies.values()];
    const waits = policies.map(({ lease, burst, limit, windowMs }) => {
      const fillMs = Math.ceil((burst * windowMs) / limit);
      return 2 * (lease?.ttlMs ?? 0) + Math.max(fillMs, 2 * windowMs);
    });
    this.#time.pass(Math.max(...waits) + 1);
    for (const policy of policies) {
      const { remaining, resetAfterMs } = this.#look(policy);
      if (remaining === policy.burst && resetAfterMs === 0) continue;
      const found = `${remaining} of ${policy.burst}`;
      this.#record.faults.push(`${policy.name} is not full in the end: ${found}`);
    }
  }
}

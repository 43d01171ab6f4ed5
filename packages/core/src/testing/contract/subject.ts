import type { Decision } from '../../decision/decision.js';
import type { Policy } from '../../policy/policy.js';
import type { Charge, Claim, Examination, Grant, Store } from '../../store/store.js';
import type { ManualClock } from '../manual-clock.js';
import { expectSound, expectSoundGrant } from './decisions.js';
import { expectEqual } from './expect.js';

/**
 * The store under test, asked as a limiter asks it: at once where it can answer at once. Every
 * decision is held to be sound, and to be of the clock's present time.
 *
 * Calls reach the store before the method returns: those made in one turn are made at once.
 */
export class Subject {
  readonly store: Store;
  readonly clock: ManualClock;

  constructor(store: Store, clock: ManualClock) {
    this.store = store;
    this.clock = clock;
  }

  async consume(policy: Policy, key: string, cost = 1): Promise<Decision> {
    const { store } = this;
    const decision =
      store.tryConsume(policy, key, cost) ?? (await store.consume(policy, key, cost));
    return this.#sound(policy, cost, decision);
  }

  /** What is left, having charged nothing. */
  async look(policy: Policy, key: string): Promise<Decision> {
    return this.#sound(policy, 0, await this.store.consume(policy, key, 0));
  }

  /** Whether the store has `examine`. */
  get examines(): boolean {
    return this.store.examine !== undefined;
  }

  /** @throws Error where the store does not have it */
  async examine(policy: Policy, key: string, cost: number): Promise<Examination> {
    const found = await this.store.examine?.(policy, key, cost);
    if (found === undefined) throw new Error('a store that has examine must answer, got undefined');
    this.#sound(policy, cost, found.decision);
    return found;
  }

  async consumeAll(charges: readonly Charge[]): Promise<readonly Decision[]> {
    const { store } = this;
    const decisions = store.tryConsumeAll(charges) ?? (await store.consumeAll(charges));
    expectEqual('number of decisions', decisions.length, charges.length);
    charges.forEach(({ policy, cost }, i) => {
      this.#sound(policy, cost, decisions[i] as Decision);
    });
    return decisions;
  }

  async claim(claim: Claim): Promise<Grant | undefined> {
    const grant = await this.store.claim(claim);
    if (grant === undefined) return undefined;
    const { policy, costs } = claim;
    expectEqual('number of decisions', grant.decisions.length, costs.length);
    costs.forEach((cost, i) => {
      this.#sound(policy, cost, grant.decisions[i] as Decision);
    });
    this.#sound(policy, 0, grant.left);
    expectSoundGrant(claim, grant);
    return grant;
  }

  /** @param takenAtMs by the clock; left out: not told */
  async refund(
    policy: Policy,
    key: string,
    permits: number,
    takenAtMs?: number,
  ): Promise<Decision> {
    return this.#sound(policy, 0, await this.store.refund(policy, key, permits, takenAtMs));
  }

  async overcharge(policy: Policy, key: string, permits: number): Promise<Decision> {
    return this.#sound(policy, 0, await this.store.overcharge(policy, key, permits));
  }

  reset(policy: Policy, key: string): Promise<void> {
    return this.store.reset(policy, key);
  }

  #sound(policy: Policy, cost: number, decision: Decision): Decision {
    expectSound(policy, cost, decision);
    expectEqual('decidedAtMs, by the given clock', decision.decidedAtMs, this.clock.nowMs());
    return decision;
  }
}

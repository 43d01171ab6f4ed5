import type { Decision } from '../decision/decision.js';
import type { Policy } from '../policy/policy.js';
import type { Clock } from '../time/clock.js';
import { DECISION, type DecisionMessage } from './channels.js';
import { type Counts, DecisionCounts, FIRST_DENIAL, indexOf } from './decision-counts.js';
import type { DecisionCount } from './limiter-metrics.js';
import { PolicyTraffic } from './policy-traffic.js';
import { Sampler } from './sampler.js';
import type { DenialNote, TopKeys } from './top-keys.js';

/** What was asked of one policy: a `Charge` is one. */
interface Asked {
  readonly policy: Policy;
  readonly key: string;
  readonly cost: number;
}

/** What is noted of the decisions of one policy and key class; as a sampler it takes calls to note whose. */
class Tally extends Sampler {
  readonly counts: Counts;
  /** Undefined where no keys are kept. */
  readonly traffic: PolicyTraffic | undefined;

  constructor(counts: Counts, traffic: PolicyTraffic | undefined) {
    super(Math.random);
    this.counts = counts;
    this.traffic = traffic;
  }
}

/** Sees all decisions of one limiter, once each. What only looks, at a cost of 0, is none. */
export class DecisionObserver {
  readonly #limiter: object;
  readonly #nowMs: () => number;
  readonly #counts = new DecisionCounts();
  readonly #traffic = new Map<string, PolicyTraffic>();
  readonly #tallies = new WeakMap<Policy, Tally>();
  /** Of the latest decision: most are under the same policy as the one before. */
  #lastPolicy: Policy | undefined;
  #lastTally: Tally | undefined;

  /**
   * @param policies of the limiter
   * @param topKeys how many keys are kept of each policy; 0 keeps none
   */
  constructor(limiter: object, policies: Iterable<Policy>, topKeys: number, clock: Clock) {
    this.#limiter = limiter;
    const nowMs = () => clock.nowMs();
    this.#nowMs = nowMs;
    for (const policy of policies) {
      const { name } = policy;
      if (topKeys > 0) this.#traffic.set(name, new PolicyTraffic(topKeys, nowMs, Math.random));
      this.#tallyOf(policy);
    }
  }

  decided(asked: Asked, decision: Decision): void {
    const { policy, cost } = asked;
    if (cost === 0) return;
    const tally = policy === this.#lastPolicy ? (this.#lastTally as Tally) : this.#tallyOf(policy);
    const index = indexOf(decision);
    (tally.counts[index] as number)++;
    if (--tally.until === 0 || index >= FIRST_DENIAL || DECISION.hasSubscribers) {
      this.#note(tally, asked, decision);
    }
  }

  /**
   * Of a call under several policies that was denied, those that would have let it go ahead have
   * decided nothing: nothing was charged to them.
   * @param decisions undefined where it is not known, as another one denied
   */
  allDecided(asked: readonly Asked[], decisions: readonly (Decision | undefined)[]): void {
    const isDenied = decisions.some((decision) => decision?.allowed === false);
    for (let i = 0; i < asked.length; i++) {
      const decision = decisions[i];
      if (decision === undefined) continue;
      const isIdle = isDenied && decision.allowed && !decision.wouldDeny;
      if (!isIdle) this.decided(asked[i] as Asked, decision);
    }
  }

  counts(): readonly DecisionCount[] {
    return this.#counts.read();
  }

  /** Of each policy whose keys are kept. @param count most keys of each kind */
  top(count: number): readonly TopKeys[] {
    return [...this.#traffic].map(([name, traffic]) => traffic.top(name, count));
  }

  denialsOf(policy: Policy, key: string): { count: number; last: readonly DenialNote[] } {
    return this.#traffic.get(policy.name)?.denialsOf(key) ?? { count: 0, last: [] };
  }

  #tallyOf(policy: Policy): Tally {
    const known = this.#tallies.get(policy);
    const tally = known ?? new Tally(this.#counts.of(policy), this.#traffic.get(policy.name));
    if (known === undefined) this.#tallies.set(policy, tally);
    this.#lastPolicy = policy;
    this.#lastTally = tally;
    return tally;
  }

  /** Apart, to keep the way past it short. */
  #note(tally: Tally, asked: Asked, decision: Decision): void {
    const { key, cost } = asked;
    const { traffic } = tally;
    if (tally.until === 0) {
      const nowMs = this.#nowMs();
      const times = tally.next(nowMs);
      traffic?.noteCall(key, times, nowMs);
    }
    if (!decision.allowed || decision.wouldDeny) traffic?.noteDenial(key, cost, decision);
    if (DECISION.hasSubscribers) this.#publish(asked, decision);
  }

  #publish({ policy: { keyClass }, key, cost }: Asked, decision: Decision): void {
    const message: DecisionMessage = { limiter: this.#limiter, key, cost, keyClass, decision };
    DECISION.publish(message);
  }
}

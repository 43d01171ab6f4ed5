import type { Decision } from '../decision/decision.js';
import type { Fallback } from '../fallback/fallback.js';
import type { LeaseBook } from '../lease/lease-book.js';
import type { DecisionObserver } from '../metrics/decision-observer.js';
import type { Policy } from '../policy/policy.js';
import { decideByLook } from '../region/region-decision.js';
import type { Charge, Inspection, Store } from '../store/store.js';
import type { Explanation, PolicyExplanation } from './explanation.js';

/** Says how it stands with a key, and why. Changes nothing. */
export class Explainer {
  readonly #store: Store;
  readonly #fallback: Fallback;
  readonly #leases: LeaseBook;
  readonly #observer: DecisionObserver | undefined;

  constructor(
    store: Store,
    fallback: Fallback,
    leases: LeaseBook,
    observer: DecisionObserver | undefined,
  ) {
    this.#store = store;
    this.#fallback = fallback;
    this.#leases = leases;
    this.#observer = observer;
  }

  /** @param charges what a call would be charged */
  async explain(charges: readonly Charge[]): Promise<Explanation> {
    const each = await Promise.all(charges.map((charge) => this.#explainOne(charge)));
    const enforced = each.filter(({ policy }) => !policy.shadow);
    const waits = enforced.map(({ fitsAfterMs }) => fitsAfterMs ?? Number.POSITIVE_INFINITY);
    const longestMs = Math.max(0, ...waits);
    return {
      each,
      fits: enforced.every(({ fits }) => fits),
      fitsAfterMs: Number.isFinite(longestMs) ? longestMs : undefined,
    };
  }

  async #explainOne({ policy, key, cost }: Charge): Promise<PolicyExplanation> {
    // One that only watches would say that all fits.
    const enforced = policy.shadow ? Object.freeze({ ...policy, shadow: false }) : policy;
    const { decision, out } = await this.#inspect({ policy: enforced, key, cost });
    const held = this.#leases.held(policy, key);
    const fits = decision.allowed || (held > 0 && cost <= held);
    return {
      policy,
      key,
      fits,
      fitsAfterMs: fits ? 0 : decision.retryAfterMs,
      level: levelOf(policy, decision),
      decision,
      held,
      out,
      denials: this.#observer?.denialsOf(policy, key) ?? { count: 0, last: [] },
    };
  }

  async #inspect(charge: Charge): Promise<Inspection> {
    const { policy, key, cost } = charge;
    const look = { ...charge, cost: 0 };
    const here = this.#store.tryConsume(policy, key, 0);
    if (here !== undefined) return this.#ask(charge);
    let out: number | undefined;
    let isInspected = false;
    const decision =
      (this.#fallback.mayAsk(key) ? undefined : this.#fallback.tryDecide([look])?.[0]) ??
      (await this.#fallback.guardOne(look, async () => {
        const found = await this.#ask(charge);
        out = found.out;
        isInspected = true;
        return found.decision;
      }));
    const isAnswered = isInspected && decision.origin !== 'fallback';
    return { decision: isAnswered ? decision : decideByLook(policy, decision, cost), out };
  }

  async #ask({ policy, key, cost }: Charge): Promise<Inspection> {
    if (this.#store.inspect !== undefined) return this.#store.inspect(policy, key, cost);
    const look = await this.#store.consume(policy, key, 0);
    return { decision: decideByLook(policy, look, cost), out: undefined };
  }
}

/** Of a token bucket the time until it is full tells how far below zero it is. */
function levelOf({ algorithm, burst, limit, windowMs }: Policy, decision: Decision): number {
  const { remaining, resetAfterMs } = decision;
  const isBucket = algorithm === 'token-bucket' || algorithm === 'gcra';
  if (!isBucket || remaining > 0 || limit === 0) return remaining;
  return Math.min(0, burst - Math.floor((resetAfterMs * limit) / windowMs));
}

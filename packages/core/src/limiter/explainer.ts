import type { Decision } from '../decision/decision.js';
import type { Fallback } from '../fallback/fallback.js';
import type { LeaseBook } from '../lease/lease-book.js';
import type { DecisionObserver } from '../metrics/decision-observer.js';
import type { Policy } from '../policy/policy.js';
import { decideByLook } from '../region/region-decision.js';
import type { Charge, Examination, Store } from '../store/store.js';
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
    const { decision, out } = await this.#examine({ policy: enforced, key, cost });
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

  async #examine(charge: Charge): Promise<Examination> {
    const { policy, key } = charge;
    const isHere = this.#store.tryConsume(policy, key, 0) !== undefined;
    return isHere ? this.#ask(charge) : this.#fallback.examine(charge, () => this.#ask(charge));
  }

  async #ask({ policy, key, cost }: Charge): Promise<Examination> {
    if (this.#store.examine !== undefined) return this.#store.examine(policy, key, cost);
    const look = await this.#store.consume(policy, key, 0);
    return { decision: decideByLook(policy, look, cost), out: undefined };
  }
}

/**
 * Of a token bucket the time until it is full tells how far below zero it is: what it is short of has
 * come by then, and not yet a millisecond earlier. Where more than a permit comes in one, it is the
 * least that can be.
 */
function levelOf({ algorithm, burst, limit, windowMs }: Policy, decision: Decision): number {
  const { remaining, resetAfterMs } = decision;
  const isBucket = algorithm === 'token-bucket' || algorithm === 'gcra';
  if (!isBucket || remaining > 0 || limit === 0) return remaining;
  const short = 1 + Math.floor(((resetAfterMs - 1) * limit) / windowMs);
  return Math.min(0, burst - short);
}

import type { Algorithm, Policy, PolicyOptions } from '../../policy/policy.js';
import type { Claim, Grant, LeaseReport } from '../../store/store.js';
import { type Behaviour, policyOf } from './contract-test.js';
import { expectEqual } from './expect.js';
import type { Subject } from './subject.js';

/** The algorithms whose permits can be held in advance. */
export const LEASED = ['token-bucket', 'fixed-window', 'sliding-window'] as const;

/** A behaviour of leases, once for each algorithm that has them. */
export function forEachLeased(
  name: string,
  check: (subject: Subject, algorithm: Algorithm) => Promise<void>,
): Behaviour[] {
  return LEASED.map((algorithm) => ({
    name: `${algorithm}: claim: ${name}`,
    check: (subject) => check(subject, algorithm),
  }));
}

/** Ten permits per 10 s, of which five may be held at once, for a second each, but for `change`. */
export function leased(algorithm: Algorithm, change: Partial<PolicyOptions> = {}): Policy {
  return policyOf({ limit: 10, window: '10s', algorithm, lease: { ttl: '1s' }, ...change });
}

/**
 * Ten permits that are all back within a millisecond: what a look finds missing a millisecond later
 * is out.
 */
export function fast(change: Partial<PolicyOptions> = {}): Policy {
  return leased('token-bucket', { limit: 10_000, window: '1s', burst: 10, ...change });
}

/** One that holds permits of a bucket in advance, and numbers its claims. */
export class Holder {
  /** May be put to other values of the policy between claims. */
  policy: Policy;
  readonly #subject: Subject;
  readonly #id: number;
  readonly #key: string;
  #latest: Claim | undefined;

  /** @param id one for each holder of a bucket */
  constructor(subject: Subject, policy: Policy, id = 1, key = 'key') {
    this.#subject = subject;
    this.policy = policy;
    this.#id = id;
    this.#key = key;
  }

  /** A claim that nobody has heard before: it has to be answered. */
  async claim(ask: Partial<Pick<Claim, 'reports' | 'costs' | 'extra'>> = {}): Promise<Grant> {
    const turn = (this.#latest?.turn ?? 0) + 1;
    const who = { policy: this.policy, key: this.#key, holder: this.#id };
    const claim = { ...who, turn, reports: [], costs: [], extra: 0, ...ask };
    this.#latest = claim;
    const grant = await this.#subject.claim(claim);
    if (grant !== undefined) return grant;
    throw new Error('a claim that was not heard before must be answered, got undefined');
  }

  /** Claims as many, all of which have to be granted. */
  async hold(permits: number): Promise<Grant> {
    const grant = await this.claim({ extra: permits });
    expectEqual('permits granted', grant.permits, permits);
    return grant;
  }

  /** Says what became of permits of a grant. @returns what is left then */
  async tell(grant: Grant, spent: number, returned: number): Promise<number> {
    const { left } = await this.claim({ reports: [report(grant, spent, returned)] });
    return left.remaining;
  }

  /** The latest claim, to be sent once more. */
  get latest(): Claim {
    if (this.#latest === undefined) throw new Error('there was no claim yet');
    return this.#latest;
  }
}

export function report({ epoch }: Grant, spent: number, returned: number): LeaseReport {
  return { epoch, spent, returned };
}

/** Two holders of one bucket. Their numbers, 0 and 1, are also those of claims. */
export function twoHolders(subject: Subject, policy: Policy, key?: string): [Holder, Holder] {
  return [new Holder(subject, policy, 0, key), new Holder(subject, policy, 1, key)];
}

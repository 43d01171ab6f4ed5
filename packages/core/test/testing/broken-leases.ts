import type { Decision } from '../../src/decision/decision.js';
import type { LeaseTerms } from '../../src/policy/lease-terms.js';
import type { Policy } from '../../src/policy/policy.js';
import type { Claim, Grant, LeaseReport, Store } from '../../src/store/store.js';
import { Delegate } from './delegate.js';

/** A store that hands on a claim that `change` has made of the one it got. */
export function changesClaims(change: (claim: Claim) => Partial<Claim>): (sound: Store) => Store {
  return (sound) =>
    new (class extends Delegate {
      override claim(claim: Claim): Promise<Grant | undefined> {
        return this.inner.claim({ ...claim, ...change(claim) });
      }
    })(sound);
}

/** A store that answers a claim with a grant that `change` has made of the sound one. */
export function changesGrants(
  change: (grant: Grant, claim: Claim) => Partial<Grant>,
): (sound: Store) => Store {
  return (sound) =>
    new (class extends Delegate {
      override async claim(claim: Claim): Promise<Grant | undefined> {
        const grant = await this.inner.claim(claim);
        return grant && { ...grant, ...change(grant, claim) };
      }
    })(sound);
}

/** Leases by other terms than the policy's, and says that they are the policy's. */
export function changesTerms(
  change: (terms: LeaseTerms, policy: Policy) => Partial<LeaseTerms>,
): (sound: Store) => Store {
  return (sound) =>
    new (class extends Delegate {
      override async claim(claim: Claim): Promise<Grant | undefined> {
        const { policy } = claim;
        const terms = policy.lease as LeaseTerms;
        const lease = { ...terms, ...change(terms, policy) };
        const grant = await this.inner.claim({ ...claim, policy: { ...policy, lease } });
        return grant && { ...grant, lifeMs: terms.ttlMs };
      }
    })(sound);
}

/** A report as a store that takes one kind of permits for the other reads it. */
export function changesReports(
  change: (report: LeaseReport) => Partial<LeaseReport>,
): (sound: Store) => Store {
  return changesClaims(({ reports }) => ({
    reports: reports.map((report) => ({ ...report, ...change(report) })),
  }));
}

/** Numbers the claims anew, and so can make several of one. */
class Renumbering extends Delegate {
  #turn = 0;

  /** As the sound store has it, but never void. */
  protected async fresh(claim: Claim): Promise<Grant> {
    return (await this.inner.claim({ ...claim, turn: ++this.#turn })) as Grant;
  }
}

/** Hears every claim as often as it is sent. */
export class ForgetsTurns extends Renumbering {
  override claim(claim: Claim): Promise<Grant | undefined> {
    return this.fresh(claim);
  }
}

/** Notes that it heard a claim only once it is answered. */
export class NotesTurnsLate extends Renumbering {
  readonly #heard = new Map<string, number>();

  override async claim(claim: Claim): Promise<Grant | undefined> {
    const id = `${claim.policy.name} ${claim.key} ${claim.holder}`;
    if (claim.turn <= (this.#heard.get(id) ?? 0)) return undefined;
    const grant = await this.fresh(claim);
    this.#heard.set(id, claim.turn);
    return grant;
  }
}

/** Knows the claims of an epoch only until it ends. */
export class ForgetsTurnsWithTheEpoch extends Renumbering {
  readonly #heard = new Map<string, number>();

  override async claim(claim: Claim): Promise<Grant | undefined> {
    const { policy, key, holder, turn } = claim;
    const { decidedAtMs } = await this.inner.consume(policy, key, 0);
    const epoch = Math.floor(decidedAtMs / (policy.lease?.ttlMs ?? 1));
    const id = `${policy.name} ${key} ${holder} ${epoch}`;
    if (turn <= (this.#heard.get(id) ?? 0)) return undefined;
    this.#heard.set(id, turn);
    return this.fresh(claim);
  }
}

/** Grants before it decides the costs. */
export class GrantsFirst extends Renumbering {
  override async claim(claim: Claim): Promise<Grant | undefined> {
    const granted = await this.fresh({ ...claim, costs: [] });
    const { decisions, left } = await this.fresh({ ...claim, reports: [], extra: 0 });
    return { ...granted, decisions, left };
  }
}

/** Takes what is granted for spent: refill makes up for it at once. */
export class TakesGrantsForSpent extends Renumbering {
  override async claim(claim: Claim): Promise<Grant | undefined> {
    const grant = await this.fresh(claim);
    const { epoch, permits } = grant;
    if (permits === 0) return grant;
    const reports = [{ epoch, spent: permits, returned: 0 }];
    const { left } = await this.fresh({ ...claim, reports, costs: [], extra: 0 });
    return { ...grant, left };
  }
}

/** Grants what is there, and leaves it there. */
export class GrantsTwice extends Delegate {
  override async claim(claim: Claim): Promise<Grant | undefined> {
    const grant = await this.inner.claim({ ...claim, extra: 0 });
    if (grant === undefined) return undefined;
    const { lease } = claim.policy;
    const permits = Math.min(claim.extra, grant.left.remaining, lease?.share ?? 0);
    return { ...grant, permits, lifeMs: lease?.ttlMs ?? 0 };
  }
}

/** Never lets more be granted than the share, all grants together. */
export class CountsGrantsForGood extends Delegate {
  #granted = 0;

  override async claim(claim: Claim): Promise<Grant | undefined> {
    const room = Math.max(0, (claim.policy.lease?.share ?? 0) - this.#granted);
    const grant = await this.inner.claim({ ...claim, extra: Math.min(claim.extra, room) });
    this.#granted += grant?.permits ?? 0;
    return grant;
  }
}

/** Charges a cost that it has just denied. */
export class ChargesDeniedCosts extends Delegate {
  override async claim(claim: Claim): Promise<Grant | undefined> {
    const grant = await this.inner.claim(claim);
    if (grant === undefined || grant.decisions.every((it) => it.allowed)) return grant;
    return { ...grant, left: await this.inner.overcharge(claim.policy, claim.key, 1) };
  }
}

/** Answers a claim that it heard before as it answered it then. */
export class AnswersAgain extends Delegate {
  readonly #answers = new Map<number, Grant>();

  override async claim(claim: Claim): Promise<Grant | undefined> {
    const grant = await this.inner.claim(claim);
    if (grant === undefined) return this.#answers.get(claim.turn);
    this.#answers.set(claim.turn, grant);
    return grant;
  }
}

/** Decides the costs of a claim from the last to the first. */
export class DecidesCostsBackwards extends Delegate {
  override async claim(claim: Claim): Promise<Grant | undefined> {
    const grant = await this.inner.claim({ ...claim, costs: [...claim.costs].reverse() });
    return grant && { ...grant, decisions: [...grant.decisions].reverse() };
  }
}

/**
 * Takes what was spent off what is out before it refills. What the refill has then more room for is
 * put back here: what has come in since the bucket was last asked, at most what was spent.
 */
export class AccountsFirst extends Delegate {
  readonly #askedAtMs = new Map<string, number>();

  override async claim(claim: Claim): Promise<Grant | undefined> {
    const { policy, key, reports } = claim;
    const { decidedAtMs } = await this.inner.consume(policy, key, 0);
    const sinceMs = decidedAtMs - (this.#askedAtMs.get(key) ?? decidedAtMs);
    this.#askedAtMs.set(key, decidedAtMs);
    const told = await this.inner.claim({ ...claim, costs: [], extra: 0 });
    if (told === undefined) return undefined;
    const spent = reports.reduce((sum, report) => sum + report.spent, 0);
    const gained = Math.floor((sinceMs * policy.limit) / policy.windowMs);
    if (policy.algorithm === 'token-bucket') {
      await this.inner.refund(policy, key, Math.min(spent, gained), undefined);
    }
    return this.inner.claim({ ...claim, turn: claim.turn + 0.5, reports: [] });
  }
}

/** Puts back what is returned, of whatever time. */
export class TakesLateReturns extends Delegate {
  override async claim(claim: Claim): Promise<Grant | undefined> {
    const { policy, key, reports } = claim;
    const { decidedAtMs } = await this.inner.consume(policy, key, 0);
    for (const { epoch, returned } of reports) {
      if (this.isLate(policy, epoch, decidedAtMs))
        await this.inner.refund(policy, key, returned, undefined);
    }
    return this.inner.claim(claim);
  }

  protected isLate({ lease }: Policy, epoch: number, nowMs: number): boolean {
    return epoch > nowMs - 1e6 && epoch + (lease?.ttlMs ?? 0) <= nowMs;
  }
}

/** Puts what is returned of the window before into the present one. */
export class ReturnsIntoTheNextWindow extends TakesLateReturns {
  protected override isLate({ algorithm }: Policy, epoch: number, nowMs: number): boolean {
    return algorithm !== 'token-bucket' && epoch > nowMs - 1e6 && epoch <= nowMs;
  }
}

/** What a store knows of one bucket from which it granted. */
interface Leased {
  readonly claim: Claim;
  readonly grant: Grant;
}

/** Remembers the latest grant of each bucket, and can take it for spent. */
class Remembering extends Delegate {
  readonly #latest = new Map<string, Leased>();

  override async claim(claim: Claim): Promise<Grant | undefined> {
    const grant = await this.inner.claim(claim);
    if (grant !== undefined && grant.permits > 0) this.#latest.set(claim.key, { claim, grant });
    return grant;
  }

  protected latest(key: string): Leased | undefined {
    return this.#latest.get(key);
  }

  protected async writeOff(key: string): Promise<void> {
    const { claim, grant } = this.#latest.get(key) ?? {};
    if (claim === undefined || grant === undefined) return;
    this.#latest.delete(key);
    const { epoch, permits } = grant;
    const reports = [{ epoch, spent: permits, returned: 0 }];
    await this.inner.claim({ ...claim, holder: 98, reports, costs: [], extra: 0 });
  }
}

/** Takes for spent what is out, once a policy without a lease asks. */
export class LosesLeasesWithoutTerms extends Remembering {
  override tryConsume(): undefined {}
  override async consume(policy: Policy, key: string, cost: number): Promise<Decision> {
    if (policy.lease === undefined) await this.writeOff(key);
    return this.inner.consume(policy, key, cost);
  }
}

/** Begins a bucket anew where the clock is behind its latest grant. */
export class BeginsAnewOnAStepBack extends Remembering {
  override tryConsume(): undefined {}
  override async consume(policy: Policy, key: string, cost: number): Promise<Decision> {
    const grantedAtMs = this.latest(key)?.grant.left.decidedAtMs ?? 0;
    const { decidedAtMs } = await this.inner.consume(policy, key, 0);
    if (decidedAtMs < grantedAtMs) await this.inner.reset(policy, key);
    return this.inner.consume(policy, key, cost);
  }
}

/** Takes what is told of any epoch for the one of the latest grant. */
export class KnowsOneEpoch extends Remembering {
  override claim(claim: Claim): Promise<Grant | undefined> {
    const epoch = this.latest(claim.key)?.grant.epoch ?? 0;
    return super.claim({ ...claim, reports: claim.reports.map((it) => ({ ...it, epoch })) });
  }
}

/** Keeps what is out through a reset. */
export class ResetKeepsLeases extends Remembering {
  override async reset(policy: Policy, key: string): Promise<void> {
    await this.inner.reset(policy, key);
    await this.inner.overcharge(policy, key, this.latest(key)?.grant.permits ?? 0);
  }
}

/** Puts permits back into a bucket that is full but for what is out. */
export class RefundsWhatIsOut extends Remembering {
  override async refund(
    policy: Policy,
    key: string,
    permits: number,
    takenAtMs: number | undefined,
  ): Promise<Decision> {
    const { remaining } = await this.inner.consume(policy, key, 0);
    if (remaining + permits > policy.burst - (this.latest(key)?.grant.permits ?? 0)) {
      await this.writeOff(key);
    }
    return this.inner.refund(policy, key, permits, takenAtMs);
  }
}

/** Is closed and answers claims all the same. */
export class ClaimsWhenClosed extends Delegate {
  override claim(claim: Claim): Promise<Grant | undefined> {
    return this.inner.claim(claim).catch(() => undefined);
  }
}

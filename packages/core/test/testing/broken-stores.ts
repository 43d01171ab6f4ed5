import type { Decision } from '../../src/decision/decision.js';
import type { Policy } from '../../src/policy/policy.js';
import type { Charge, Examination, Store } from '../../src/store/store.js';
import { AsyncDelegate, Delegate, Translating } from './delegate.js';

/** Charges a check that it has just denied. */
export class ChargesDenied extends AsyncDelegate {
  override async consume(policy: Policy, key: string, cost: number): Promise<Decision> {
    const decision = await this.inner.consume(policy, key, cost);
    if (!decision.allowed) await this.inner.overcharge(policy, key, 1);
    return decision;
  }
}

/** Counts what a shadow policy would have denied. */
export class ChargesShadow extends AsyncDelegate {
  override async consume(policy: Policy, key: string, cost: number): Promise<Decision> {
    const decision = await this.inner.consume(policy, key, cost);
    if (decision.wouldDeny) await this.inner.overcharge(policy, key, 1);
    return decision;
  }
}

/** Charges and then says that only a round trip can tell. */
export class ChargesOnTry extends Delegate {
  override tryConsume(policy: Policy, key: string, cost: number): undefined {
    this.inner.tryConsume(policy, key, cost);
  }
}

/** Decides the checks of a turn from the last to the first. */
export class LastFirst extends AsyncDelegate {
  readonly #waiting: (() => void)[] = [];

  override consume(policy: Policy, key: string, cost: number): Promise<Decision> {
    if (this.#waiting.length === 0) setImmediate(() => this.#decide());
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => this.inner.consume(policy, key, cost).then(resolve, reject));
    });
  }

  #decide(): void {
    for (const decide of this.#waiting.splice(0).reverse()) decide();
  }
}

/** Looks first and charges in a later step, as read-modify-write without a lock. */
export class TwoSteps extends AsyncDelegate {
  override async consume(policy: Policy, key: string, cost: number): Promise<Decision> {
    const { remaining } = await this.inner.consume(policy, key, 0);
    if (remaining < cost) return this.inner.consume(policy, key, cost);
    const left = await this.inner.overcharge(policy, key, cost);
    return { ...left, allowed: true, retryAfterMs: undefined };
  }
}

/** Decides by a limit that is one higher than the policy's. */
export class OneTooMany extends Translating {
  override policy(policy: Policy): Policy {
    return { ...policy, limit: policy.limit + 1, burst: policy.burst + 1 };
  }
  override answer(decision: Decision, { limit, burst }: Policy): Decision {
    return { ...decision, limit, remaining: Math.min(decision.remaining, burst) };
  }
}

/** Lets no bucket go below zero. */
export class ForgetsOverdraft extends Translating {
  override policy(policy: Policy): Policy {
    return { ...policy, overdraft: 0 };
  }
}

/** Lets every bucket go below zero without end. */
export class EndlessOverdraft extends Translating {
  override policy(policy: Policy): Policy {
    return { ...policy, overdraft: 1_000_000 };
  }
}

/** Goes on with the values it first saw under a name. */
export class KeepsOldValues extends Translating {
  readonly #first = new Map<string, Policy>();

  override policy(policy: Policy): Policy {
    const id = `${policy.name} ${policy.algorithm}`;
    const first = this.#first.get(id) ?? policy;
    this.#first.set(id, first);
    return first;
  }
  override answer(decision: Decision, { limit }: Policy): Decision {
    return { ...decision, limit, remaining: Math.min(decision.remaining, limit) };
  }
}

/** Stores buckets by partition key alone. */
export class ForgetsNames extends Translating {
  override policy(policy: Policy): Policy {
    return { ...policy, name: 'any' };
  }
  override answer(decision: Decision, { name }: Policy): Decision {
    return { ...decision, policy: name };
  }
}

/** Stores buckets under a key that `change` has made of the partition key. */
export function changesKeys(change: (key: string) => string): (sound: Store) => Store {
  return (sound) =>
    new (class extends Translating {
      override key(key: string): string {
        return change(key);
      }
    })(sound);
}

/** Answers with a decision that `change` has made of the sound one. */
export function changesAnswers(change: (decision: Decision) => object): (sound: Store) => Store {
  return (sound) =>
    new (class extends Translating {
      override answer(decision: Decision): Decision {
        return { ...decision, ...change(decision) } as Decision;
      }
    })(sound);
}

/** Charges bucket after bucket, and stops at the first that denies. */
export class OneAfterAnother extends AsyncDelegate {
  override async consumeAll(charges: readonly Charge[]): Promise<readonly Decision[]> {
    const decisions: Decision[] = [];
    let denied = false;
    for (const { policy, key, cost } of charges) {
      const decision = await this.inner.consume(policy, key, denied ? 0 : cost);
      denied ||= !decision.allowed;
      decisions.push(decision);
    }
    return decisions;
  }
}

/** Says that every charge is denied where one is. */
export class DeniesAlike extends AsyncDelegate {
  override async consumeAll(charges: readonly Charge[]): Promise<readonly Decision[]> {
    const decisions = await this.inner.consumeAll(charges);
    const denied = decisions.find(({ allowed }) => !allowed);
    if (denied === undefined) return decisions;
    return decisions.map((it) => ({ ...denied, policy: it.policy }));
  }
}

/** Lets a shadow policy deny the call of which it is a part. */
export class ShadowDenies extends AsyncDelegate {
  override async consumeAll(charges: readonly Charge[]): Promise<readonly Decision[]> {
    const real = charges.map((it) => ({ ...it, policy: { ...it.policy, shadow: false } }));
    const decisions = await this.inner.consumeAll(real);
    return decisions.map((it, i) =>
      charges[i]?.policy.shadow && !it.allowed
        ? { ...it, allowed: true, wouldDeny: true, retryAfterMs: undefined }
        : it,
    );
  }
}

/** Puts permits of any time back into the present window. */
export class ForgetsWhenTaken extends Delegate {
  override refund(policy: Policy, key: string, permits: number): Promise<Decision> {
    return this.inner.refund(policy, key, permits, undefined);
  }
}

/** Puts one permit back, however many came. */
export class RefundsOnlyOne extends Delegate {
  override refund(
    policy: Policy,
    key: string,
    permits: number,
    takenAtMs: number | undefined,
  ): Promise<Decision> {
    return this.inner.refund(policy, key, Math.min(1, permits), takenAtMs);
  }
}

/** Keeps what a full bucket has no room for, and lets later calls have it. */
export class FillsAboveFull extends AsyncDelegate {
  #surplus = 0;

  override async refund(
    policy: Policy,
    key: string,
    permits: number,
    takenAtMs: number | undefined,
  ): Promise<Decision> {
    const { remaining } = await this.inner.consume(policy, key, 0);
    this.#surplus += Math.max(0, permits - (policy.burst - remaining));
    return this.inner.refund(policy, key, permits, takenAtMs);
  }
  override async consume(policy: Policy, key: string, cost: number): Promise<Decision> {
    const decision = await this.inner.consume(policy, key, cost);
    if (decision.allowed || cost > this.#surplus) return decision;
    this.#surplus -= cost;
    return { ...decision, allowed: true, retryAfterMs: undefined };
  }
}

/** Charges by overcharge only what fits. */
export class OverchargesWhatFits extends Delegate {
  override async overcharge(policy: Policy, key: string, permits: number): Promise<Decision> {
    const { remaining } = await this.inner.consume(policy, key, 0);
    return this.inner.overcharge(policy, key, Math.min(permits, remaining));
  }
}

/** Resets once the calls of this turn are over. */
export class ResetsLate extends Delegate {
  override async reset(policy: Policy, key: string): Promise<void> {
    await new Promise(setImmediate);
    await this.inner.reset(policy, key);
  }
}

/** Resets the buckets of all keys, as it forgets a policy's whole table. */
export class ResetsTooMuch extends Delegate {
  readonly #keys = new Set<string>();

  override tryConsume(policy: Policy, key: string, cost: number): Decision | undefined {
    this.#keys.add(key);
    return this.inner.tryConsume(policy, key, cost);
  }
  override async reset(policy: Policy): Promise<void> {
    for (const key of this.#keys) await this.inner.reset(policy, key);
  }
}

/** Is closed and answers all the same. */
export class NeverCloses extends Delegate {
  override async close(): Promise<void> {}
}

/** Drops what waits when it is closed. */
export class DropsOnClose extends AsyncDelegate {
  override async consume(policy: Policy, key: string, cost: number): Promise<Decision> {
    await new Promise(setImmediate);
    return this.inner.consume(policy, key, cost);
  }
}

/** Takes what it is only asked about. */
export class ChargesExamined extends AsyncDelegate {
  async examine(policy: Policy, key: string, cost: number): Promise<Examination> {
    return { decision: await this.inner.consume(policy, key, cost), out: undefined };
  }
}

/** Tells of a look, whatever cost was asked about. */
export class ExaminesNoCost extends AsyncDelegate {
  async examine(policy: Policy, key: string): Promise<Examination> {
    return { decision: await this.inner.consume(policy, key, 0), out: undefined };
  }
}

/** Says that nothing is out, whatever is. */
export class ExaminesNoLeases extends AsyncDelegate {
  async examine(policy: Policy, key: string, cost: number): Promise<Examination> {
    const found = await this.inner.examine?.(policy, key, cost);
    return { ...(found as Examination), out: 0 };
  }
}

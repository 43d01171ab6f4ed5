import type { Decision } from '../../src/decision/decision.js';
import type { Policy } from '../../src/policy/policy.js';
import type { Charge, Claim, Grant, Store } from '../../src/store/store.js';

/** A store that hands every call to another: what a broken one differs from in a method or two. */
export class Delegate implements Store {
  readonly inner: Store;

  constructor(inner: Store) {
    this.inner = inner;
  }

  tryConsume(policy: Policy, key: string, cost: number): Decision | undefined {
    return this.inner.tryConsume(policy, key, cost);
  }
  consume(policy: Policy, key: string, cost: number): Promise<Decision> {
    return this.inner.consume(policy, key, cost);
  }
  tryConsumeAll(charges: readonly Charge[]): readonly Decision[] | undefined {
    return this.inner.tryConsumeAll(charges);
  }
  consumeAll(charges: readonly Charge[]): Promise<readonly Decision[]> {
    return this.inner.consumeAll(charges);
  }
  claim(claim: Claim): Promise<Grant | undefined> {
    return this.inner.claim(claim);
  }
  refund(
    policy: Policy,
    key: string,
    permits: number,
    takenAtMs: number | undefined,
  ): Promise<Decision> {
    return this.inner.refund(policy, key, permits, takenAtMs);
  }
  overcharge(policy: Policy, key: string, permits: number): Promise<Decision> {
    return this.inner.overcharge(policy, key, permits);
  }
  reset(policy: Policy, key: string): Promise<void> {
    return this.inner.reset(policy, key);
  }
  close(): Promise<void> {
    return this.inner.close();
  }
}

/** A delegate whose every check is a promise, and so goes through `consume` and `consumeAll`. */
export class AsyncDelegate extends Delegate {
  override tryConsume(policy: Policy, key: string, _cost: number): Decision | undefined {
    // A look, as a store that is closed has to say so.
    this.inner.tryConsume(policy, key, 0);
    return undefined;
  }
  override tryConsumeAll(charges: readonly Charge[]): readonly Decision[] | undefined {
    this.inner.tryConsumeAll(charges.map((charge) => ({ ...charge, cost: 0 })));
    return undefined;
  }
}

/** A delegate that has other policies or keys than it is told. */
export class Translating extends Delegate {
  policy(policy: Policy): Policy {
    return policy;
  }
  key(key: string): string {
    return key;
  }
  /** What is answered for a decision of the policy that was told. */
  answer(decision: Decision, _policy: Policy): Decision {
    return decision;
  }

  override tryConsume(policy: Policy, key: string, cost: number): Decision | undefined {
    const decision = this.inner.tryConsume(this.policy(policy), this.key(key), cost);
    return decision && this.answer(decision, policy);
  }
  override async consume(policy: Policy, key: string, cost: number): Promise<Decision> {
    return this.answer(await this.inner.consume(this.policy(policy), this.key(key), cost), policy);
  }
  override tryConsumeAll(charges: readonly Charge[]): readonly Decision[] | undefined {
    return this.inner
      .tryConsumeAll(this.#charges(charges))
      ?.map((decision, i) => this.answer(decision, (charges[i] as Charge).policy));
  }
  override async consumeAll(charges: readonly Charge[]): Promise<readonly Decision[]> {
    const decisions = await this.inner.consumeAll(this.#charges(charges));
    return decisions.map((decision, i) => this.answer(decision, (charges[i] as Charge).policy));
  }
  override async refund(
    policy: Policy,
    key: string,
    permits: number,
    takenAtMs: number | undefined,
  ): Promise<Decision> {
    const decision = await this.inner.refund(
      this.policy(policy),
      this.key(key),
      permits,
      takenAtMs,
    );
    return this.answer(decision, policy);
  }
  override async overcharge(policy: Policy, key: string, permits: number): Promise<Decision> {
    return this.answer(
      await this.inner.overcharge(this.policy(policy), this.key(key), permits),
      policy,
    );
  }
  override reset(policy: Policy, key: string): Promise<void> {
    return this.inner.reset(this.policy(policy), this.key(key));
  }

  #charges(charges: readonly Charge[]): Charge[] {
    return charges.map(({ policy, key, cost }) => ({
      policy: this.policy(policy),
      key: this.key(key),
      cost,
    }));
  }
}

import type { Charge, Claim, Decision, Grant, Policy, Store } from '@rl/core';

/** A store that counts the decisions it makes: each has crossed the regions. */
export class FarStore implements Store {
  decisions = 0;
  readonly #inner: Store;

  constructor(inner: Store) {
    this.#inner = inner;
  }

  tryConsume(policy: Policy, key: string, cost: number): Decision | undefined {
    return this.#inner.tryConsume(policy, key, cost);
  }
  consume(policy: Policy, key: string, cost: number): Promise<Decision> {
    if (cost > 0) this.decisions++;
    return this.#inner.consume(policy, key, cost);
  }
  tryConsumeAll(charges: readonly Charge[]): readonly Decision[] | undefined {
    return this.#inner.tryConsumeAll(charges);
  }
  consumeAll(charges: readonly Charge[]): Promise<readonly Decision[]> {
    this.decisions++;
    return this.#inner.consumeAll(charges);
  }
  claim(claim: Claim): Promise<Grant | undefined> {
    this.decisions += claim.costs.length;
    return this.#inner.claim(claim);
  }
  refund(policy: Policy, key: string, permits: number, takenAtMs?: number): Promise<Decision> {
    return this.#inner.refund(policy, key, permits, takenAtMs);
  }
  overcharge(policy: Policy, key: string, permits: number): Promise<Decision> {
    return this.#inner.overcharge(policy, key, permits);
  }
  reset(policy: Policy, key: string): Promise<void> {
    return this.#inner.reset(policy, key);
  }
  close(): Promise<void> {
    return this.#inner.close();
  }
}

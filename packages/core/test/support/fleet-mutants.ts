import type { Decision } from '../../src/decision/decision.js';
import type { Policy } from '../../src/policy/policy.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import type { Charge, Claim, Grant, Store } from '../../src/store/store.js';
import type { Clock } from '../../src/time/clock.js';
import { Delegate } from '../testing/delegate.js';

/** A clock that can be held at a time that is past. */
class HeldClock implements Clock {
  readonly #true: Clock;
  heldAtMs: number | undefined;

  constructor(clock: Clock) {
    this.#true = clock;
  }

  nowMs(): number {
    return this.heldAtMs ?? this.#true.nowMs();
  }
}

/**
 * A store that takes off what is out before it refills: permits that were spent late make room for
 * refill from before they were spent.
 */
class AccountsFirst extends Delegate {
  readonly #clock: HeldClock;
  #lastMs = 0;

  constructor(clock: HeldClock) {
    super(memoryStore({ clock }));
    this.#clock = clock;
  }

  override tryConsume(policy: Policy, key: string, cost: number): Decision | undefined {
    if (cost > 0) this.#note();
    return super.tryConsume(policy, key, cost);
  }

  override consume(policy: Policy, key: string, cost: number): Promise<Decision> {
    this.#note();
    return super.consume(policy, key, cost);
  }

  override consumeAll(charges: readonly Charge[]): Promise<readonly Decision[]> {
    this.#note();
    return super.consumeAll(charges);
  }

  override refund(
    policy: Policy,
    key: string,
    permits: number,
    takenAtMs: number | undefined,
  ): Promise<Decision> {
    this.#note();
    return super.refund(policy, key, permits, takenAtMs);
  }

  /** Told as of the last operation, decided as of now: for the inner store these are two claims. */
  override async claim(claim: Claim): Promise<Grant | undefined> {
    const turn = 2 * claim.turn;
    this.#clock.heldAtMs = this.#lastMs;
    const told = super.claim({ ...claim, turn, costs: [], extra: 0 });
    this.#clock.heldAtMs = undefined;
    if ((await told) === undefined) return undefined;
    this.#note();
    return super.claim({ ...claim, turn: turn + 1, reports: [] });
  }

  #note(): void {
    this.#lastMs = this.#clock.nowMs();
  }
}

/** A store that hears every claim as one that it has not heard before. */
class ForgetsTurns extends Delegate {
  #heard = 0;

  override claim(claim: Claim): Promise<Grant | undefined> {
    return super.claim({ ...claim, turn: ++this.#heard });
  }
}

export function accountsFirst(clock: Clock): Store {
  return new AccountsFirst(new HeldClock(clock));
}

export function forgetsTurns(clock: Clock): Store {
  return new ForgetsTurns(memoryStore({ clock }));
}

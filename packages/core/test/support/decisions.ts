import { expect } from 'vitest';
import type { Decision } from '../../src/decision/decision.js';
import type { Policy } from '../../src/policy/policy.js';

/** A decision without who made it: what two stores must agree on to the digit. */
export function facts(decision: Decision): Omit<Decision, 'origin'> {
  const { origin: _, ...rest } = decision;
  return rest;
}

/** What holds of every decision, whatever was asked. */
export function expectSound(policy: Policy, cost: number, decision: Decision): void {
  const { remaining, retryAfterMs, refillAfterMs, resetAfterMs } = decision;
  for (const ms of [retryAfterMs, refillAfterMs, resetAfterMs]) {
    if (ms !== undefined) expect(Number.isSafeInteger(ms) && ms >= 0).toBe(true);
  }
  expect(decision.policy).toBe(policy.name);
  expect(decision.limit).toBe(policy.limit);
  expect(Number.isSafeInteger(remaining) && remaining >= 0 && remaining <= policy.burst).toBe(true);
  expect(resetAfterMs === 0).toBe(refillAfterMs === undefined);
  if (refillAfterMs !== undefined) expect(refillAfterMs).toBeLessThanOrEqual(resetAfterMs);
  if (!decision.allowed) expect(remaining).toBeLessThan(cost);
  if (decision.allowed || cost > policy.burst) {
    expect(retryAfterMs).toBeUndefined();
  } else {
    expect(retryAfterMs).toBeGreaterThanOrEqual(1);
    expect(retryAfterMs).toBeLessThanOrEqual(resetAfterMs);
  }
}

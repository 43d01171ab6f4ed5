import { describe, expect, test } from 'vitest';
import type { Observation } from '../src/chaos/account.js';
import type { Fault } from '../src/chaos/fault.js';
import { FAULTS } from '../src/chaos/faults.js';
import { countLate, stalledMs } from '../src/chaos/lateness.js';
import { admittedBetween, overshootOf } from '../src/chaos/overshoot.js';
import { recoveryMs } from '../src/chaos/recovery.js';
import { CALM_MS, LEAD_MS, planFaults } from '../src/chaos/schedule.js';

/** One permit every 100 ms, two at most. */
const QUOTA = { burst: 2, perMs: 0.01 };
const at = (...instants: number[]) => instants.map((atMs) => ({ atMs, tookMs: 1 }));

function observed(atMs: number, origin: Observation['origin'], more: Partial<Observation> = {}) {
  return {
    kind: 'hot',
    atMs,
    tookMs: 1,
    allowed: true,
    origin,
    fault: undefined,
    ...more,
  } as const;
}

describe('overshoot', () => {
  test('there is none where a bucket could have admitted it', () => {
    expect(overshootOf([], QUOTA)).toBe(0);
    expect(overshootOf(at(0, 0, 100, 200, 500, 500), QUOTA)).toBe(0);
  });

  test('it is the most over all intervals, in whatever order they come', () => {
    // From 200 to 251 four, where 2.51 are the most.
    expect(overshootOf(at(0, 250, 250, 200, 200), QUOTA)).toBeCloseTo(4 - 2.51);
  });

  test('what may have been admitted before an interval does not count for it', () => {
    const slow = { atMs: 0, tookMs: 500 };
    expect(overshootOf([slow, ...at(499, 499)], QUOTA)).toBe(0);
    expect(admittedBetween([slow, ...at(499, 499)], 1, 500)).toBe(2);
  });
});

describe('recovery', () => {
  const inARow = (fromMs: number, count: number, origin: Observation['origin'] = 'store') =>
    Array.from({ length: count }, (_, i) => observed(fromMs + i, origin));

  test('lasts until the first of 20 decisions in a row without the fallback', () => {
    const seen = [...inARow(0, 30), observed(105, 'fallback'), ...inARow(110, 20)];
    expect(recoveryMs(seen, 100, 1000)).toBe(11);
  });

  test('one decision by the fallback begins the count anew', () => {
    const seen = [...inARow(100, 19), observed(120, 'fallback'), ...inARow(130, 20)];
    expect(recoveryMs(seen, 100, 1000)).toBe(31);
  });

  test('leases and remembered denials are no sign of a store', () => {
    const leased = inARow(100, 30).map((one) => ({ ...one, kind: 'leased' as const }));
    const remembered = inARow(100, 30, 'memory');
    expect(recoveryMs([...leased, ...remembered], 100, 1000)).toBe(undefined);
    expect(recoveryMs([...leased, ...remembered, ...inARow(140, 20)], 100, 1000)).toBe(41);
  });

  test('there is none where the next fault comes first', () => {
    expect(recoveryMs(inARow(100, 20), 100, 119)).toBe(undefined);
  });
});

describe('late decisions', () => {
  const stalls = [
    { fromMs: 100, toMs: 110, cpuMs: 0 },
    { fromMs: 200, toMs: 203, cpuMs: 3 },
  ];

  test('a stall counts as far as it fell into the time', () => {
    expect(stalledMs(stalls, 0, 100)).toBe(0);
    expect(stalledMs(stalls, 105, 202)).toBe(7);
  });

  test.each([
    ['within twice the deadline', 0, 10, { stalled: 0, unexplained: 0 }],
    ['without a stall', 0, 10.1, { stalled: 0, unexplained: 1 }],
    ['by a stall', 95, 23, { stalled: 1, unexplained: 0 }],
    ['by more than a stall accounts for', 95, 24, { stalled: 0, unexplained: 1 }],
  ])('%s', (_, atMs, tookMs, late) => {
    expect(countLate([observed(atMs, 'fallback', { tookMs })], stalls, 5)).toEqual(late);
  });
});

describe('the schedule', () => {
  const names = (plan: readonly { readonly fault: Fault }[]) => plan.map(({ fault }) => fault.name);

  test('has every fault in a minute, and ends in time', () => {
    const plan = planFaults(FAULTS, 60, 1);
    expect(names(plan).sort()).toEqual(names(FAULTS.map((fault) => ({ fault }))).sort());
    const sum = plan.reduce((ms, { durationMs }) => ms + durationMs + CALM_MS, LEAD_MS);
    expect(sum).toBeLessThanOrEqual(60_000 + 1e-6);
    for (const { durationMs } of plan) {
      expect(durationMs).toBeGreaterThanOrEqual(1000);
      expect(durationMs).toBeLessThanOrEqual(3000);
    }
  });

  test('is the same for the same seed, and another for another', () => {
    const [first, again, other] = [1, 1, 2].map((seed) => planFaults(FAULTS, 60, seed));
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });

  test('begins anew with all faults where there is time, and has at least one', () => {
    const two = FAULTS.slice(0, 2);
    const plan = names(planFaults(two, 40, 3));
    expect(plan.length).toBe(8);
    for (let i = 0; i < plan.length; i += 2) expect(new Set(plan.slice(i, i + 2)).size).toBe(2);
    expect(planFaults(FAULTS, 5, 3).length).toBe(1);
  });
});

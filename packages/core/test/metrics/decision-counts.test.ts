import { describe, expect, it } from 'vitest';
import { makeDecision } from '../../src/algorithms/make-decision.js';
import type { Origin } from '../../src/decision/decision.js';
import { DecisionCounts, indexOf, MAX_CLASSES } from '../../src/metrics/decision-counts.js';
import { OUTCOMES } from '../../src/metrics/limiter-metrics.js';
import { parsePolicy } from '../../src/policy/policy.js';

const policyOf = (name: string, keyClass?: string, shadow = false) =>
  parsePolicy(name, { limit: 1, window: '1s', keyClass, shadow }, '');

function count(counts: DecisionCounts, origin: Origin, fits: boolean, shadow: boolean): void {
  const policy = policyOf('p', undefined, shadow);
  const decision = makeDecision(policy, fits, 0, 1, 1, 1, 0, origin);
  const own = counts.of(policy);
  const index = indexOf(decision);
  own[index] = (own[index] as number) + 1;
}

describe('decisions are counted', () => {
  it('by outcome and origin, twelve ways for each policy and key class, also those that are 0', () => {
    const counts = new DecisionCounts();
    counts.of(policyOf('p'));
    counts.of(policyOf('p', 'gold'));
    counts.of(policyOf('q'));
    const read = counts.read();
    expect(read).toHaveLength(36);
    expect(read.every((one) => one.count === 0)).toBe(true);
    const ways = read.map(({ count: _, ...way }) => JSON.stringify(way));
    expect(new Set(ways).size).toBe(36);
    expect(new Set(read.map(({ outcome }) => outcome))).toEqual(new Set(OUTCOMES));
  });

  const ways = (['store', 'lease', 'memory', 'fallback'] as const).flatMap((origin) => {
    const prefix = origin === 'fallback' ? 'fallback_' : '';
    return [
      { origin, fits: true, shadow: false, outcome: `${prefix}allowed` },
      { origin, fits: true, shadow: true, outcome: `${prefix}allowed` },
      { origin, fits: false, shadow: false, outcome: `${prefix}denied` },
      { origin, fits: false, shadow: true, outcome: 'shadow_denied' },
    ];
  });
  it.each(ways)('by $origin, fits $fits, shadow $shadow: as $outcome', (way) => {
    const counts = new DecisionCounts();
    count(counts, way.origin, way.fits, way.shadow);
    expect(counts.read().filter((one) => one.count > 0)).toEqual([
      { policy: 'p', keyClass: 'default', outcome: way.outcome, origin: way.origin, count: 1 },
    ]);
  });

  it('together for all policies of one name and key class', () => {
    const counts = new DecisionCounts();
    expect(counts.of(policyOf('p', 'gold'))).toBe(counts.of(policyOf('p', 'gold', true)));
    expect(counts.of(policyOf('p', 'gold'))).not.toBe(counts.of(policyOf('p', 'free')));
    expect(counts.of(policyOf('p', 'gold'))).not.toBe(counts.of(policyOf('q', 'gold')));
  });

  it('under 32 key classes of a policy, and what comes beyond as other', () => {
    const counts = new DecisionCounts();
    for (let i = 0; i < 100; i++) counts.of(policyOf('p', `c${i}`)).fill(i);
    counts.of(policyOf('q', 'c99'));
    const classes = counts.read().filter((one) => one.policy === 'p' && one.outcome === 'allowed');
    const stored = classes.filter(({ origin }) => origin === 'store');
    expect(stored).toHaveLength(MAX_CLASSES + 1);
    expect(stored.at(-1)).toMatchObject({ keyClass: 'other', count: 99 });
    expect(stored.at(-2)).toMatchObject({ keyClass: 'c31', count: 31 });
    expect(counts.of(policyOf('p', 'c5'))[0]).toBe(5);
    expect(counts.read().some((one) => one.policy === 'q' && one.keyClass === 'c99')).toBe(true);
  });
});

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runFleet } from '../support/fleet.js';
import { accountsFirst, forgetsTurns } from '../support/fleet-mutants.js';
import { type FleetPlan, fleets } from '../support/fleet-plans.js';
import { fuzzRuns } from '../support/fuzz.js';

/** Of the windows a quarter of the histories: there are fewer ways to go wrong. */
it.each([
  ['token-bucket', 1],
  ['fixed-window', 1 / 4],
  ['sliding-window', 1 / 4],
] as const)(
  'G1 a fleet that leases a %s admits no more than the policy, whatever its network does',
  (algorithm, share) =>
    fc.assert(
      fc.asyncProperty(fleets(algorithm), async (plan) => {
        const { faults } = await runFleet(plan);
        expect(faults).toEqual([]);
      }),
      fuzzRuns(share),
    ),
);

it('such fleets see all that can happen to one', async () => {
  const seen: Record<string, number> = {};
  for (const plan of fc.sample(fleets('token-bucket'), { seed: 1, numRuns: 50 })) {
    for (const [sight, count] of Object.entries((await runFleet(plan)).seen)) {
      seen[sight] = (seen[sight] ?? 0) + count;
    }
  }
  expect(Object.entries(seen).filter(([, count]) => count < 10)).toEqual([]);
});

describe('the same histories find the fault', () => {
  const buckets = fleets('token-bucket');

  /** Most are found within 100 histories; the bound is for when sources change what they do. */
  async function expectOvershoot(
    plans: fc.Arbitrary<FleetPlan>,
    openStore?: Parameters<typeof runFleet>[1],
  ) {
    const property = fc.asyncProperty(plans, async (plan) => {
      const { faults } = await runFleet(plan, openStore);
      return !faults.some((fault) => fault.includes('permits too many'));
    });
    const { failed } = await fc.check(property, { seed: 5, numRuns: 3000, endOnFailure: true });
    expect(failed).toBe(true);
  }

  it('where the clock of each replica goes at half the speed', () =>
    expectOvershoot(fleets('token-bucket', fc.constant(0.5))));

  it('where the store accounts before it refills', () => expectOvershoot(buckets, accountsFirst));

  it('where the store counts what is delivered twice', () => {
    const twice = (plan: FleetPlan): FleetPlan => ({
      ...plan,
      fates: plan.fates.map((fate) => ({
        ...fate,
        again: fate.again ?? { thereMs: fate.thereMs + 1, seen: 'first' },
      })),
    });
    return expectOvershoot(buckets.map(twice), forgetsTurns);
  });
});

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fuzzRuns } from '../support/fuzz.js';
import { openShared } from '../support/redis.js';
import { poolHistories } from './pool-histories.js';
import { POOL_MUTANTS } from './pool-mutants.js';
import { replayPools } from './pool-replay.js';

let shared: Awaited<ReturnType<typeof openShared>>;
beforeAll(async () => {
  shared = await openShared();
});
afterAll(() => shared.close());

it('G1 regions admit no more than the policy at the home store, whatever is late, lost, told twice or forgotten', () =>
  fc.assert(
    fc.asyncProperty(poolHistories(), async (history) => {
      const { overshoot, faults } = await replayPools(shared.client, shared.prefix, history);
      expect([overshoot, ...faults]).toEqual([undefined]);
    }),
    fuzzRuns(1 / 10),
  ));

it('such regions see all that can happen to one', async () => {
  const seen: Record<string, number> = {};
  for (const history of fc.sample(poolHistories(), { seed: 1, numRuns: 12 })) {
    const replay = await replayPools(shared.client, shared.prefix, history);
    for (const [what, count] of Object.entries(replay.seen)) seen[what] = (seen[what] ?? 0) + count;
  }
  expect(Object.keys(seen).sort()).toEqual([
    'asked for',
    'by a replica',
    'by the home store',
    'by the region',
    'claims',
    'emptied',
    'granted',
    'lent',
    'put back',
    'rushed',
    'stepped',
  ]);
});

describe('the same histories find a pool that', () => {
  it.each(POOL_MUTANTS)('$name', async ({ script }) => {
    const property = fc.asyncProperty(poolHistories(), async (history) => {
      const { overshoot, faults } = await replayPools(
        shared.client,
        shared.prefix,
        history,
        script,
      );
      return overshoot === undefined && faults.length === 0;
    });
    const { failed } = await fc.check(property, {
      seed: 3,
      numRuns: 400,
      endOnFailure: true,
    });
    expect(failed).toBe(true);
  });
});

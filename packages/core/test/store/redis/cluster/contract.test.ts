import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../src/testing/manual-clock.js';
import { storeContract } from '../../../../src/testing.js';
import { replay, START_MS } from '../../../algorithms/history-replay.js';
import { LEASED, leaseHistories } from '../../../algorithms/lease-histories.js';
import { replayLeases } from '../../../algorithms/lease-replay.js';
import { type OpenCluster, openCluster } from '../../../support/cluster.js';
import { facts } from '../../../support/decisions.js';
import { fuzzRuns } from '../../../support/fuzz.js';
import { type History, histories, MIXES } from '../../../support/histories.js';
import { MEMORY, type OpenStore } from '../../../support/worlds.js';

let opened: OpenCluster;
beforeAll(async () => {
  opened = await openCluster();
});
afterAll(() => opened.close());

describe('the contract of a store, on a cluster of three primaries', () => {
  for (const { name, run } of storeContract((clock) => opened.world.open(clock))) it(name, run);
});

/**
 * The same, where all policies of one call are on one tenant: in several slots they are charged in
 * turn, which other calls of that instant may see.
 */
function ofOneTenant({ policies, instants }: History): History {
  return {
    policies,
    instants: instants.map((instant) => ({
      ...instant,
      calls: instant.calls.map((call) => ({
        ...call,
        parts: call.parts.map((part) => ({ ...part, key: call.parts[0]?.key ?? part.key })),
      })),
    })),
  };
}

describe('G6 memory and a cluster are the same algorithm', () => {
  const clock = new ManualClock(START_MS);
  let memory: OpenStore;
  let redis: OpenStore;
  let replayed = 0;
  beforeAll(async () => {
    memory = await MEMORY.open(clock);
    redis = await opened.world.open(clock);
  });
  afterAll(() => Promise.all([memory.close(), redis.close()]));

  it.each(MIXES)('random histories give the same decisions, to the digit: %s', (_, algorithm) =>
    fc.assert(
      fc.asyncProperty(histories(algorithm).map(ofOneTenant), async (history) => {
        const id = `history-${++replayed}`;
        const expected = await replay(memory.store, clock, id, history);
        const actual = await replay(redis.store, clock, id, history);
        expect(actual.map(({ decision }) => facts(decision))).toEqual(
          expected.map(({ decision }) => facts(decision)),
        );
      }),
      fuzzRuns(0.05),
    ),
  );

  it.each(LEASED)('so do histories of leases of a %s', (algorithm) =>
    fc.assert(
      fc.asyncProperty(leaseHistories(algorithm), async (history) => {
        const id = `leases-${++replayed}`;
        const expected = await replayLeases(memory.store, clock, id, history, 1);
        expect(await replayLeases(redis.store, clock, id, history, 1)).toEqual(expected);
      }),
      fuzzRuns(0.03),
    ),
  );
});

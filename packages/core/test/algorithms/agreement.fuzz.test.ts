import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { expectSound, facts } from '../support/decisions.js';
import { fuzzRuns } from '../support/fuzz.js';
import { histories, MIXES } from '../support/histories.js';
import { MEMORY, type OpenStore, REDIS } from '../support/worlds.js';
import { replay, START_MS } from './history-replay.js';

describe('G6 memory and Redis are the same algorithm', () => {
  const clock = new ManualClock(START_MS);
  let memory: OpenStore;
  let redis: OpenStore;
  let replayed = 0;
  beforeAll(async () => {
    memory = await MEMORY.open(clock);
    redis = await REDIS.open(clock);
  });
  afterAll(() => Promise.all([memory.close(), redis.close()]));

  it.each(MIXES)('random histories give the same decisions, to the digit: %s', (_, algorithm) =>
    fc.assert(
      fc.asyncProperty(histories(algorithm), async (history) => {
        const id = `history-${++replayed}`;
        const expected = await replay(memory.store, clock, id, history);
        const actual = await replay(redis.store, clock, id, history);
        expect(actual.map(({ decision }) => facts(decision))).toEqual(
          expected.map(({ decision }) => facts(decision)),
        );
        for (const { policy, cost, decision } of actual) {
          expectSound(policy, cost, decision);
          expect(decision.origin).toBe('store');
        }
      }),
      fuzzRuns(),
    ),
  );
});

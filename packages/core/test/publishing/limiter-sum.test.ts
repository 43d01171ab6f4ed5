import { afterEach, describe, expect, it } from 'vitest';
import { PROBE } from '../../src/fallback/probe.js';
import { createLimiter } from '../../src/limiter/limiter.js';
import { LATENCY_BOUNDS_S } from '../../src/metrics/store-watcher.js';
import { LimiterSum, limitersOf } from '../../src/publishing/limiter-sum.js';
import { fits } from '../support/answered-store.js';
import { findPlace, losePlace, openPlaced } from '../support/placed-replica.js';
import { closeAll, lose, openSilent } from '../support/silent-replica.js';

const POLICIES = { p: { limit: 10, window: '1h' } };

afterEach(closeAll);

describe('a sum of limiters', () => {
  it('is nothing where there is none', () => {
    const { decisions, storeLatency, replicas, storeStates, owed, keys, batchSize } =
      new LimiterSum().read();
    expect({ decisions, replicas, storeStates, owed, keys, batchSize }).toEqual({
      decisions: [],
      replicas: undefined,
      storeStates: { up: 0, returning: 0, lost: 0 },
      owed: 0,
      keys: undefined,
      batchSize: undefined,
    });
    expect(storeLatency.bounds).toBe(LATENCY_BOUNDS_S);
    expect(storeLatency.counts).toHaveLength(LATENCY_BOUNDS_S.length + 1);
  });

  it('of one is what it counts itself', async () => {
    const replica = openSilent(POLICIES);
    await lose(replica);
    replica.limiter.tryConsume({ p: 'k' }, { cost: 3 });
    const sum = new LimiterSum();
    sum.add([replica.limiter]);
    const { decisions, storeErrors, storeLatency, leases } = replica.limiter.metrics();
    const { owed, replicas } = replica.limiter.health();
    expect(owed).toBeGreaterThan(0);
    expect(sum.read()).toMatchObject({
      decisions,
      storeErrors,
      storeLatency,
      leases,
      owed,
      replicas,
    });
    expect(sum.read().storeStates).toEqual({ up: 0, returning: 0, lost: 1 });
  });

  it('has the places of a store each in its state, and one where nothing is known of them', async () => {
    const replica = openPlaced(POLICIES);
    const sum = new LimiterSum();
    sum.add([replica.limiter]);
    expect(sum.read().storeStates).toEqual({ up: 1, returning: 0, lost: 0 });
    const call = replica.limiter.consume({ p: 'A1' });
    await (await replica.store.checked()).answer(fits(PROBE));
    await call;
    await losePlace(replica, 'B');
    expect(sum.read().storeStates).toEqual({ up: 1, returning: 0, lost: 1 });
    await findPlace(replica, 'B');
    expect(sum.read().storeStates).toEqual({ up: 1, returning: 1, lost: 0 });
  });

  it('has the most replicas that any takes there to be', () => {
    const sum = new LimiterSum();
    const three = openSilent(POLICIES, { replicas: 3 });
    sum.add([three.limiter, createLimiter({ policies: POLICIES })]);
    void three.limiter.consume({ p: 'k' });
    expect(sum.read().replicas).toBe(3);
  });
});

describe('what an app hands in', () => {
  const limiter = createLimiter({ policies: POLICIES });

  it('is one limiter or a list', () => {
    expect(limitersOf(limiter)).toEqual([limiter]);
    expect(limitersOf([limiter, limiter])).toEqual([limiter, limiter]);
    expect(() => limitersOf([{ metrics: () => 0 } as never])).toThrow(
      'limiters[0] must be a limiter made by createLimiter, got an object',
    );
  });
});

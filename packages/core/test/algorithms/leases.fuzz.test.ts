import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Policy } from '../../src/policy/policy.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import type { Store } from '../../src/store/store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { fuzzRuns } from '../support/fuzz.js';
import { type OpenStore, REDIS } from '../support/worlds.js';
import {
  AccountsFirst,
  changesGrants,
  changesTerms,
  ForgetsTurns,
  GrantsTwice,
  TakesGrantsForSpent,
} from '../testing/broken-leases.js';
import { LEASED, type Leased, type LeaseHistory, leaseHistories } from './lease-histories.js';
import { type Admission, type Replayed, replayLeases } from './lease-replay.js';

/**
 * The first admission that was one too many, by the algorithm's definition over all that was let
 * through: none of these knows of leases.
 */
const METERS: Readonly<
  Record<Leased, (policy: Policy, admissions: readonly Admission[]) => Admission | undefined>
> = {
  // One exact bucket: over every interval at most burst + rate × length.
  'token-bucket': ({ limit, windowMs, burst }, admissions) => {
    const full = burst * windowMs;
    let level = full;
    let sinceMs = 0;
    return admissions.find(({ atMs, permits }) => {
      level = Math.min(full, level + (atMs - sinceMs) * limit) - permits * windowMs;
      sinceMs = atMs;
      return level < 0;
    });
  },
  // A window is known by its end.
  'fixed-window': ({ limit }, admissions) => {
    const spent = new Map<number, number>();
    return admissions.find(({ atMs, permits, resetAfterMs }) => {
      const endsAtMs = atMs + resetAfterMs;
      spent.set(endsAtMs, (spent.get(endsAtMs) ?? 0) + permits);
      return (spent.get(endsAtMs) as number) > limit;
    });
  },
  'sliding-window': ({ limit, windowMs }, admissions) => {
    const spent = new Map<number, number>();
    return admissions.find(({ atMs, permits }) => {
      const window = Math.floor(atMs / windowMs);
      spent.set(window, (spent.get(window) ?? 0) + permits);
      const covered = (spent.get(window - 1) ?? 0) * (windowMs - (atMs % windowMs));
      return covered + (spent.get(window) as number) * windowMs > limit * windowMs;
    });
  },
};

/** Stores with one mistake each, which makes them overshoot where these algorithms are leased. */
const BROKEN: readonly {
  readonly name: string;
  readonly breakStore: (sound: Store) => Store;
  readonly found: readonly Leased[];
}[] = [
  {
    name: 'accounts before it refills',
    breakStore: (sound) => new AccountsFirst(sound),
    found: ['token-bucket'],
  },
  {
    name: 'refills in place of what is out',
    breakStore: (sound) => new TakesGrantsForSpent(sound),
    found: ['token-bucket'],
  },
  {
    name: 'writes off too early',
    breakStore: changesTerms(({ ttlMs }) => ({ ttlMs: ttlMs / 2 })),
    found: ['token-bucket'],
  },
  {
    name: 'promises the ttl, also where the window ends before',
    breakStore: changesGrants((_, { policy }) => ({ lifeMs: policy.lease?.ttlMs ?? 0 })),
    found: ['fixed-window', 'sliding-window'],
  },
  {
    name: 'hands out what it has granted',
    breakStore: (sound) => new GrantsTwice(sound),
    found: LEASED,
  },
  {
    name: 'hears a claim twice',
    breakStore: (sound) => new ForgetsTurns(sound),
    found: LEASED,
  },
];

const clock = new ManualClock();
let replayed = 0;

function replay(store: Store, history: LeaseHistory, overstay = 1): Promise<Replayed> {
  return replayLeases(store, clock, `history-${++replayed}`, history, overstay);
}

function overshoot(algorithm: Leased, { plain }: LeaseHistory, { admissions }: Replayed) {
  return METERS[algorithm](plain, admissions);
}

/** A tenth of the runs, for a store with round trips. */
function fewerRuns() {
  return { numRuns: Math.ceil((fuzzRuns().numRuns ?? 1) / 10) };
}

describe.each(LEASED)('leases of a %s', (algorithm) => {
  let memory: Store;
  let redis: OpenStore;
  beforeAll(async () => {
    memory = memoryStore({ clock });
    redis = await REDIS.open(clock);
  });
  afterAll(() => Promise.all([memory.close(), redis.close()]));

  it('G1 holders that claim, spend, tell, return and crash as they like never overshoot', () =>
    fc.assert(
      fc.asyncProperty(leaseHistories(algorithm), async (history) => {
        expect(overshoot(algorithm, history, await replay(memory, history))).toBeUndefined();
      }),
      fuzzRuns(),
    ));

  it('G1 nor in Redis, where all comes out the same', () =>
    fc.assert(
      fc.asyncProperty(leaseHistories(algorithm), async (history) => {
        const inRedis = await replay(redis.store, history);
        expect(overshoot(algorithm, history, inRedis)).toBeUndefined();
        expect(inRedis).toEqual(await replay(memory, history));
      }),
      fewerRuns(),
    ));

  describe('the meter', () => {
    const histories = fc.sample(leaseHistories(algorithm), { seed: 7, numRuns: 150 });
    const broken = async (store: Store, overstay = 1) => {
      let count = 0;
      for (const history of histories) {
        if (overshoot(algorithm, history, await replay(store, history, overstay))) count++;
      }
      return count;
    };

    it('has something to measure', async () => {
      const all: Replayed[] = [];
      for (const history of histories) all.push(await replay(memory, history));
      const sum = (of: (one: Replayed) => number) => all.reduce((total, one) => total + of(one), 0);
      expect(sum((one) => one.leased)).toBeGreaterThan(500);
      expect(sum((one) => one.void)).toBeGreaterThan(50);
      expect(sum((one) => one.admissions.length)).toBeGreaterThan(1000);
      expect(await broken(memory)).toBe(0);
    });

    it('finds holders that overstay', async () => {
      expect(await broken(memory, 4)).toBeGreaterThan(0);
    });

    it.each(BROKEN.filter(({ found }) => found.includes(algorithm)))(
      'finds a store that $name',
      async ({ breakStore }) => {
        const count = await broken(breakStore(memory));
        expect(count).toBeGreaterThan(0);
      },
    );
  });
});

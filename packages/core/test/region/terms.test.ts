import { describe, expect, it } from 'vitest';
import { type PolicyOptions, parsePolicy } from '../../src/policy/policy.js';
import { parseRegion, type RegionalStoreOptions, regionPolicies } from '../../src/region/terms.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';

const home = memoryStore();
const terms = (options: Partial<RegionalStoreOptions> = {}) =>
  parseRegion({ home, share: 0.5, ...options });
const policies = (policy: PolicyOptions, options?: Partial<RegionalStoreOptions>) =>
  regionPolicies(parsePolicy('p', policy, ''), terms(options));

describe('parseRegion', () => {
  it('completes what is left out', () => {
    expect(terms()).toEqual({
      home,
      share: 0.5,
      lease: { ttl: '5s' },
      homeDeadlineMs: 300,
      deadlineMs: 5,
      onEvent: undefined,
      redis: {},
    });
  });

  it('takes what it is given', () => {
    const onEvent = () => {};
    const lease = { ttl: '2s', horizon: '1s', maxShare: 0.1, pace: 5 };
    const given = { lease, homeDeadline: '1m', deadline: 1, onEvent, prefix: 'x', replicaId: 'r' };
    expect(terms({ ...given, share: 1 })).toEqual({
      home,
      share: 1,
      lease,
      homeDeadlineMs: 60_000,
      deadlineMs: 1,
      onEvent,
      redis: { prefix: 'x', replicaId: 'r' },
    });
  });

  it.each<[unknown, string]>([
    [undefined, 'options must be an object with home and share, got undefined'],
    [null, 'options must be an object with home and share, got null'],
    ['eu', 'options must be an object with home and share, got "eu"'],
  ])('refuses %s', (options, message) => {
    expect(() => parseRegion(options as never)).toThrow(message);
  });

  it.each<[Record<string, unknown>, string, string]>([
    [{ home: undefined }, 'home', 'a store such as redisStore(client), got undefined'],
    [{ home: null }, 'home', 'a store such as redisStore(client), got null'],
    [{ home: 'redis://home' }, 'home', 'a store such as redisStore(client), got "redis://home"'],
    [{ home: { consume() {} } }, 'home', 'a store such as redisStore(client), got an object'],
    [{ share: undefined }, 'share', 'a number above 0, up to 1, got undefined'],
    [{ share: '50%' }, 'share', 'a number above 0, up to 1, got "50%"'],
    [{ share: 0 }, 'share', 'a number above 0, up to 1, got 0'],
    [{ share: -0.5 }, 'share', 'a number above 0, up to 1, got -0.5'],
    [{ share: 1.01 }, 'share', 'a number above 0, up to 1, got 1.01'],
    [{ share: Number.NaN }, 'share', 'a number above 0, up to 1, got NaN'],
    [{ lease: true }, 'lease', 'an object such as { ttl: "5s" }, got true'],
    [{ lease: null }, 'lease', 'an object such as { ttl: "5s" }, got null'],
    [{ lease: [] }, 'lease', 'an object such as { ttl: "5s" }, got an array'],
    [{ lease: { ttl: '1h' } }, 'lease.ttl', 'got "1h"'],
    [{ lease: { ttl: 99 } }, 'lease.ttl', 'got 99'],
    [{ lease: { horizon: '501ms' } }, 'lease.horizon', 'got "501ms"'],
    [{ lease: { maxShare: 2 } }, 'lease.maxShare', 'got 2'],
    [{ lease: { pace: 0 } }, 'lease.pace', 'got 0'],
    [{ homeDeadline: '61s' }, 'homeDeadline', 'at most 1m, got "61s"'],
    [{ homeDeadline: 'soon' }, 'homeDeadline', 'got "soon"'],
    [{ homeDeadline: 0 }, 'homeDeadline', 'got 0'],
    [{ deadline: 60_001 }, 'deadline', 'at most 1m, got 60001'],
    [{ deadline: -1 }, 'deadline', 'got -1'],
    [{ onEvent: 'log' }, 'onEvent', 'a function, got "log"'],
  ])('refuses %o', (wrong, field, message) => {
    let thrown: unknown;
    try {
      terms(wrong);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ field, message: expect.stringContaining(message) });
    expect((thrown as Error).message.startsWith(`${field} must be `)).toBe(true);
  });

  it.each([
    [{ hoem: home }, 'hoem is not an option'],
    [{ lease: { tll: '1s' } }, 'lease.tll is not an option'],
  ])('refuses %o, which it does not know', (wrong, message) => {
    expect(() => terms(wrong as never)).toThrow(message);
  });
});

describe('regionPolicies', () => {
  it('leases by the region’s terms, whatever those of the policy', () => {
    const lease = { ttl: '1s', maxShare: 0.1 };
    const { atHome } = policies({ limit: 100, window: '1m', lease });
    expect(atHome).toMatchObject({ name: 'p', limit: 100, lease: { ttlMs: 5000, share: 50 } });
  });

  it('claims no further ahead than a quarter of the time in which the bucket fills up', () => {
    expect(policies({ limit: 100, window: '1m' }).lease?.horizonMs).toBe(1500);
    expect(policies({ limit: 100, window: '1s' }).lease?.horizonMs).toBe(250);
    expect(policies({ limit: 100, burst: 10, window: '1s' }).lease?.horizonMs).toBe(25);
    expect(policies({ limit: 100, burst: 1, window: '1s' }).lease?.horizonMs).toBe(2);
    expect(policies({ limit: 1000, burst: 1, window: '1s' }).lease?.horizonMs).toBe(1);
  });

  it('claims as far ahead as it is told', () => {
    const lease = { ttl: '5s', horizon: '2s' };
    expect(policies({ limit: 100, window: '1s' }, { lease }).lease?.horizonMs).toBe(2000);
  });

  it.each<PolicyOptions>([
    { limit: 100, window: '1s', algorithm: 'gcra' },
    { limit: 100, window: '1s', algorithm: 'sliding-log' },
    { limit: 0, window: '1s' },
    { limit: 100, window: 9, algorithm: 'fixed-window' },
    { limit: 100, window: 9, algorithm: 'sliding-window' },
  ])('leases nothing of $algorithm, $limit per $window', (policy) => {
    const { lease, atHome } = policies(policy);
    expect([lease, atHome.lease]).toEqual([undefined, undefined]);
  });

  it.each<PolicyOptions>([
    { limit: 100, window: 9 },
    { limit: 100, window: 10, algorithm: 'fixed-window' },
    { limit: 100, window: 10, algorithm: 'sliding-window' },
  ])('leases $limit per $window of $algorithm', (policy) => {
    expect(policies(policy).lease).toBeDefined();
  });

  it.each([
    [100, 0.5, 50],
    [3, 0.5, 1],
    [1, 0.1, 1],
    [0, 0.5, 0],
    // 0.7 × 10 is a little less than 7, as doubles have it.
    [10, 0.7, 7],
    [100, 0.29, 29],
  ])('alone has of %d by a share of %d: %d', (limit, share, part) => {
    const { alone } = policies({ limit, window: '1s' }, { share });
    expect(alone).toMatchObject({ name: 'p/alone', limit: part, burst: part });
    expect(alone.lease).toBeUndefined();
  });

  it('alone has its part of burst and overdraft', () => {
    const { alone } = policies({ limit: 100, burst: 20, overdraft: 5, window: '1s' });
    expect(alone).toMatchObject({ limit: 50, burst: 10, overdraft: 2, windowMs: 1000 });
  });

  it('alone has no shards: its part may be too small for as many', () => {
    const { alone, atHome } = policies({ limit: 100, window: '1s', shards: 10 });
    expect([alone.limit, alone.shards, atHome.shards]).toEqual([50, undefined, 10]);
  });

  it('remembers a pool for as long as a claim, a grant or a debt can matter', () => {
    expect(policies({ limit: 100, window: '1m' }).useMs).toBe(2 * (5000 + 300) + 60_000 + 1000);
    expect(policies({ limit: 0, window: '1m' }).useMs).toBe(1600);
    expect(policies({ limit: 1, window: '30d' }).useMs).toBe(86_400_000);
  });
});

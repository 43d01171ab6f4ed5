import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLimiter, type Limiter } from '../../../../src/limiter/limiter.js';
import type { PolicyOptions } from '../../../../src/policy/policy.js';
import type { RedisClient } from '../../../../src/store/redis/client.js';
import type { RedisStore } from '../../../../src/store/redis/redis-store.js';
import type { Claim, Grant } from '../../../../src/store/store.js';
import { frozenRedisStore } from '../../../../src/testing/frozen-redis-store.js';
import { worstOvershoot } from '../../../support/overshoot.js';
import { type Fleet, sharded, useFleets } from '../../../support/sharded.js';

const openFleet = useFleets();
const LEASED = ['token-bucket', 'fixed-window', 'sliding-window'] as const;
const POLICY: PolicyOptions = { limit: 1000, window: '10s', shards: 8, lease: true };

let fleet: Fleet;
let limiters: Limiter<'p'>[];

beforeEach(() => {
  fleet = openFleet(4);
  limiters = [];
});
afterEach(async () => {
  await Promise.all(limiters.map((limiter) => limiter.close()));
  await Promise.all(fleet.stores.map((store) => store.close()));
});

/** A replica whose claims are noted. */
function start(index: number, policy: PolicyOptions, claims?: [Claim, Grant | undefined][]) {
  const inner = fleet.stores[index] as RedisStore;
  const store = Object.create(inner, {
    clock: { value: fleet.clock },
    waitMs: { value: 0 },
    unreplicated: { value: undefined },
    claim: {
      value: async (claim: Claim) => {
        const grant = await inner.claim(claim);
        claims?.push([claim, grant]);
        return grant;
      },
    },
  }) as RedisStore;
  for (const name of [
    'tryConsume',
    'consume',
    'tryConsumeAll',
    'consumeAll',
    'refund',
    'overcharge',
    'reset',
    'close',
    'heartbeat',
  ] as const) {
    Object.defineProperty(store, name, {
      value: (inner[name] as (...args: never[]) => unknown).bind(inner),
    });
  }
  const limiter = createLimiter({
    policies: { p: policy },
    store,
    fallback: { replicas: 3, deadline: '1m' },
  });
  limiters.push(limiter);
  return limiter;
}

async function left(algorithm: (typeof LEASED)[number]): Promise<number> {
  const policy = sharded(algorithm, { limit: 1000, lease: true });
  return (await (fleet.stores[3] as RedisStore).consume(policy, 'k', 0)).remaining;
}

describe.each(LEASED)('%s, leased and in shards', (algorithm) => {
  it('what was admitted is told of, and what was not comes back, to the sub-bucket it is of', async () => {
    const policy = { ...POLICY, algorithm };
    const claims: [Claim, Grant | undefined][] = [];
    const replicas = [0, 1, 2].map((index) => start(index, policy, claims));
    let admitted = 0;
    let byLease = 0;
    for (let turn = 0; turn < 40; turn++) {
      const calls = replicas.flatMap((limiter) =>
        Array.from({ length: 5 }, () => limiter.consume({ p: 'k' })),
      );
      for (const { allowed, origin } of await Promise.all(calls)) {
        if (allowed) admitted++;
        if (origin === 'lease') byLease++;
      }
      fleet.clock.advance(1);
      await new Promise(setImmediate);
    }
    expect(admitted).toBe(600);
    expect(byLease).toBeGreaterThan(100);
    const epochs = claims.flatMap(([, grant]) => (grant && grant.permits > 0 ? [grant.epoch] : []));
    expect(new Set(epochs.map((epoch) => epoch % 8)).size).toBeGreaterThan(2);
    await Promise.all(replicas.map((limiter) => limiter.close()));
    const refilled = algorithm === 'token-bucket' ? 4 : 0;
    const found = await left(algorithm);
    expect(found).toBeGreaterThanOrEqual(400);
    // Of a bucket, what time has brought: none of it in place of what was out.
    expect(found).toBeLessThanOrEqual(400 + refilled);
  });

  it('never overshoots, with demand above the limit', async () => {
    const policy = { ...POLICY, limit: 200, algorithm };
    const replicas = [0, 1, 2].map((index) => start(index, policy));
    const admissions: { fromMs: number; toMs: number; permits: number }[] = [];
    let total = 0;
    for (let turn = 0; turn < 120; turn++) {
      const nowMs = fleet.clock.nowMs();
      const calls = replicas.flatMap((limiter, i) =>
        Array.from({ length: 2 }, async (_, j) => {
          const cost = (turn + i + j) % 9 === 0 ? 3 : 1;
          const { allowed } = await limiter.consume({ p: 'k' }, { cost });
          if (!allowed) return;
          admissions.push({ fromMs: nowMs, toMs: nowMs, permits: cost });
          total += cost;
        }),
      );
      await Promise.all(calls);
      fleet.clock.advance(37);
      await new Promise(setImmediate);
    }
    // 4.4 s at 20 a second, and the burst.
    const rate = algorithm === 'token-bucket' ? 0.02 : 0;
    if (algorithm !== 'sliding-window') {
      expect(worstOvershoot(admissions, 200, rate)).toBeLessThanOrEqual(1e-6);
    }
    expect(total).toBeLessThanOrEqual(200 + (algorithm === 'fixed-window' ? 0 : 0.02 * 120 * 37));
    expect(total).toBeGreaterThan(190);
  });
});

it('a cost that one sub-bucket has no room for is decided by all', async () => {
  const limiter = start(0, POLICY);
  expect(await limiter.consume({ p: 'k' }, { cost: 700 })).toMatchObject({
    allowed: true,
    limit: 1000,
  });
  expect(await limiter.consume({ p: 'k' }, { cost: 301 })).toMatchObject({ allowed: false });
  expect(await limiter.consume({ p: 'k' }, { cost: 300 })).toMatchObject({ allowed: true });
});

it('what is held of one number of shards is not told to another', async () => {
  const claims: [Claim, Grant | undefined][] = [];
  const limiter = start(0, POLICY, claims);
  const held = async () => {
    for (let turn = 0; turn < 12; turn++) {
      await Promise.all(Array.from({ length: 6 }, () => limiter.consume({ p: 'k' })));
      fleet.clock.advance(1);
      await new Promise(setImmediate);
    }
  };
  await held();
  const epochs = claims.flatMap(([, grant]) => (grant && grant.permits > 0 ? [grant.epoch] : []));
  expect(epochs.length).toBeGreaterThan(0);
  const before = claims.length;
  for (const shards of [4, 1]) {
    const { allowed } = await limiter.consume({ p: 'k' }, { policies: { p: { shards } } });
    expect(allowed).toBe(true);
  }
  const after = claims.slice(before).filter(([{ policy }]) => policy.shards !== 8);
  const told = after.flatMap(([{ reports }]) => reports.map(({ epoch }) => epoch));
  expect(told.filter((epoch) => epochs.includes(epoch))).toEqual([]);
});

describe('a claim', () => {
  const policy = sharded('token-bucket', { limit: 800, lease: true });
  const claim = (own: Partial<Claim>): Claim => ({
    policy,
    key: 'k',
    holder: 1,
    turn: 1,
    reports: [],
    costs: [],
    extra: 0,
    ...own,
  });

  it('goes to the fullest, and its epoch says which that was', async () => {
    const { store } = fleet;
    const indexes = new Set<number>();
    for (let turn = 1; turn <= 8; turn++) {
      const grant = (await store.claim(claim({ turn, extra: 10 }))) as Grant;
      expect(grant.permits).toBe(10);
      indexes.add(grant.epoch % 8);
    }
    expect(indexes.size).toBe(8);
    expect((await store.consume(policy, 'k', 0)).remaining).toBe(720);
  });

  it('goes to each in turn where all are full', async () => {
    const indexes = new Set<number>();
    for (let turn = 1; turn <= 8; turn++) {
      const grant = (await fleet.store.claim(claim({ turn, extra: 1 }))) as Grant;
      indexes.add(grant.epoch % 8);
      fleet.clock.advance(20_000);
    }
    expect(indexes.size).toBe(8);
  });

  it('tells each sub-bucket of its own permits, and of them once', async () => {
    const { store } = fleet;
    const grants: Grant[] = [];
    for (let turn = 1; turn <= 4; turn++) {
      grants.push((await store.claim(claim({ turn, extra: 20 }))) as Grant);
    }
    const reports = grants.map(({ epoch }) => ({ epoch, spent: 5, returned: 15 }));
    await store.claim(claim({ turn: 5, reports }));
    expect((await store.consume(policy, 'k', 0)).remaining).toBe(780);
    const again = await store.claim(claim({ turn: 5, reports }));
    expect(again).toBeUndefined();
    expect((await store.consume(policy, 'k', 0)).remaining).toBe(780);
    fleet.clock.advance(1);
    // Nothing is out any more: so all of it fills up.
    fleet.clock.advance(10_000);
    expect((await store.consume(policy, 'k', 0)).remaining).toBe(800);
  });

  it('says of the whole what is left, and looks where it was granted less than it asked for', async () => {
    const { store } = fleet;
    const grant = (await store.claim(claim({ extra: 400 }))) as Grant;
    // Of one sub-bucket at most its share of what may be out.
    expect(grant.permits).toBe(50);
    expect(grant.left).toMatchObject({ policy: 'p', limit: 800, remaining: 750 });
    expect(grant.left.decidedAtMs).toBeGreaterThan(fleet.clock.nowMs());
  });

  it('of costs that its sub-bucket denies takes them elsewhere, in order', async () => {
    const { store } = fleet;
    const grant = (await store.claim(claim({ costs: [90, 90, 600, 21, 20] }))) as Grant;
    expect(grant.decisions.map(({ allowed }) => allowed)).toContain(true);
    const taken = grant.decisions.reduce(
      (sum, { allowed }, i) => sum + (allowed ? ([90, 90, 600, 21, 20][i] as number) : 0),
      0,
    );
    expect((await store.consume(policy, 'k', 0)).remaining).toBe(800 - taken);
    expect(taken).toBeGreaterThanOrEqual(221);
  });

  it('is refused where nothing is leased, and after the store was closed', async () => {
    const plain = sharded('token-bucket');
    await expect(fleet.store.claim(claim({ policy: plain }))).rejects.toThrow();
    await fleet.store.close();
    await expect(fleet.store.claim(claim({}))).rejects.toMatchObject({ code: 'RL_CLOSED' });
  });
});

it('a sub-bucket that does not answer is left by claims, too: others grant', async () => {
  const { client, clock, prefix } = fleet;
  let lost: string | undefined;
  const refuse = (keys: readonly (string | number)[]) => {
    lost ??= String(keys[0]);
    if (keys.includes(lost)) throw new Error('READONLY lost');
  };
  const half: RedisClient = {
    isCluster: true,
    evalsha: async (sha1, count, ...rest) => {
      refuse(rest.slice(0, count));
      return client.evalsha(sha1, count, ...rest);
    },
    eval: async (text, count, ...rest) => {
      refuse(rest.slice(0, count));
      return client.eval(text, count, ...rest);
    },
  };
  const store = frozenRedisStore(half, clock, { prefix });
  const policy = sharded('token-bucket', { limit: 1000, lease: true });
  const about = { policy, key: 'k', holder: 1, reports: [], costs: [1], extra: 5 };
  await expect(store.claim({ ...about, turn: 1 })).rejects.toMatchObject({
    code: 'RL_STORE_FAILED',
  });
  for (let turn = 2; turn < 12; turn++) {
    expect(await store.claim({ ...about, turn })).toMatchObject({ permits: 5 });
  }
  await store.close();
});

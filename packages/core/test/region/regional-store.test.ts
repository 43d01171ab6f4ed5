import { type FaultProxy, type RedisServer, startFaultProxy, startRedis } from '@rl/testkit';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLimiter, type Limiter } from '../../src/limiter/limiter.js';
import { type Policy, type PolicyOptions, parsePolicy } from '../../src/policy/policy.js';
import { type RegionalStore, regionalStore } from '../../src/region/regional-store.js';
import { type RedisStore, redisStore } from '../../src/store/redis/redis-store.js';
import { CLIENT, LONG } from '../support/replica.js';

let servers: [RedisServer, RedisServer];
/** From the region to the home store. */
let cable: FaultProxy;
let [near, far, direct]: Redis[] = [];
let atHome: RedisStore;
let home: RedisStore;
let store: RegionalStore;

beforeAll(async () => {
  servers = await Promise.all([startRedis(), startRedis()]);
  cable = await startFaultProxy(servers[1]);
  near = new Redis(servers[0].connection);
  far = new Redis({ ...(cable.connection as object), ...CLIENT });
  far.on('error', () => {});
  direct = new Redis(servers[1].connection);
  atHome = redisStore(direct);
});
afterAll(async () => {
  await atHome.close();
  for (const client of [near, far, direct]) client?.disconnect();
  await cable.close();
  await Promise.all(servers.map((server) => server.close()));
});
beforeEach(async () => {
  await Promise.all([near?.flushall(), direct?.flushall()]);
  open('2s');
});
afterEach(async () => {
  await store.close();
  await home.close();
});

function open(homeDeadline: string): void {
  home = redisStore(far as Redis);
  store = regionalStore(near as Redis, { home, share: 0.5, deadline: LONG, homeDeadline });
}

async function reopen(homeDeadline: string): Promise<void> {
  await store.close();
  await home.close();
  open(homeDeadline);
}

const policyOf = (options: Partial<PolicyOptions> = {}): Policy =>
  parsePolicy('p', { limit: 100, window: '1h', ...options }, '');

/** What the home store itself has left. */
const leftAtHome = async (policy: Policy, key = 'k') =>
  (await atHome.consume({ ...policy, lease: undefined }, key, 0)).remaining;

/** Has the region hold permits. */
async function warm(policy: Policy, calls: number, key = 'k'): Promise<void> {
  await Promise.all(Array.from({ length: calls }, () => store.consume(policy, key, 1)));
  await expect.poll(() => heldOf(policy, key)).toBeGreaterThan(0);
}

/** Permits that are out: what the region knows beyond what the home store has left. */
async function heldOf(policy: Policy, key = 'k'): Promise<number> {
  const [{ remaining }, left] = [
    await store.consume(policy, key, 0),
    await leftAtHome(policy, key),
  ];
  return remaining - left;
}

describe.each(['gcra', 'sliding-log'] as const)('%s', (algorithm) => {
  it('is decided at home, call by call', async () => {
    const policy = policyOf({ limit: 5, algorithm });
    for (const remaining of [4, 3, 2, 1, 0]) {
      const decision = await store.consume(policy, 'k', 1);
      expect([decision.allowed, decision.remaining]).toEqual([true, remaining]);
      expect(await leftAtHome(policy)).toBe(remaining);
    }
    const { allowed, retryAfterMs } = await store.consume(policy, 'k', 1);
    expect([allowed, (retryAfterMs ?? 0) > 0]).toEqual([false, true]);
  });

  it('finds room as soon as there is some', async () => {
    const policy = policyOf({ limit: 5, window: 150, algorithm });
    await store.consume(policy, 'k', 5);
    const { allowed, retryAfterMs = 0 } = await store.consume(policy, 'k', 5);
    expect(allowed).toBe(false);
    await new Promise((resolve) => setTimeout(resolve, retryAfterMs + 1));
    expect((await store.consume(policy, 'k', 5)).allowed).toBe(true);
  });

  it('finds room that came back elsewhere, within about a second', async () => {
    const policy = policyOf({ limit: 5, algorithm });
    await store.consume(policy, 'k', 5);
    expect((await store.consume(policy, 'k', 1)).allowed).toBe(false);
    await atHome.reset(policy, 'k');
    const again = async () => (await store.consume(policy, 'k', 1)).allowed;
    await expect.poll(again, { timeout: 5000, interval: 50 }).toBe(true);
  });
});

it('charges all of several buckets or none, and puts back', async () => {
  const [much, few] = [policyOf(), { ...policyOf({ limit: 2 }), name: 'few' }];
  const charges = [
    { policy: much, key: 'k', cost: 1 },
    { policy: few, key: 'k', cost: 1 },
  ];
  for (const allowed of [true, true, false, false]) {
    const decisions = await store.consumeAll(charges);
    expect(decisions.every((decision) => decision.allowed)).toBe(allowed);
  }
  expect((await store.consume(much, 'k', 98)).allowed).toBe(true);
  expect((await store.consume(much, 'k', 1)).allowed).toBe(false);
});

it('refunds into the pool what came of it', async () => {
  const policy = policyOf();
  await warm(policy, 10);
  const held = await heldOf(policy);
  const left = await leftAtHome(policy);
  const taken = await store.consume(policy, 'k', 1);
  expect(await heldOf(policy)).toBe(held - 1);
  const back = await store.refund(policy, 'k', 1, taken.decidedAtMs);
  expect(back.remaining).toBe(left + held);
  expect(await leftAtHome(policy)).toBe(left);
});

it('refunds at home what was decided there', async () => {
  const policy = policyOf({ algorithm: 'gcra' });
  const { decidedAtMs } = await store.consume(policy, 'k', 10);
  expect((await store.refund(policy, 'k', 4, decidedAtMs)).remaining).toBe(94);
  expect(await leftAtHome(policy)).toBe(94);
});

it('forgets a bucket here and at home', async () => {
  const policy = policyOf({ limit: 10 });
  await store.consume(policy, 'k', 10);
  expect((await store.consume(policy, 'k', 1)).allowed).toBe(false);
  await store.reset(policy, 'k');
  expect((await store.consume(policy, 'k', 10)).allowed).toBe(true);
});

it('looks at a bucket that the region does not know as the home store has it', async () => {
  const policy = policyOf();
  await atHome.consume(policy, 'k', 30);
  expect((await store.consume(policy, 'k', 0)).remaining).toBe(70);
});

it('watches a shadow policy, and denies nothing', async () => {
  const policy = policyOf({ limit: 2, shadow: true });
  const seen: unknown[] = [];
  for (let i = 0; i < 4; i++) {
    const { allowed, wouldDeny } = await store.consume(policy, 'k', 1);
    seen.push([allowed, wouldDeny]);
  }
  expect(seen).toEqual([false, false, true, true].map((would) => [true, would]));
});

it('never allows what is above the burst, and takes nothing for it', async () => {
  const policy = policyOf();
  await store.consume(policy, 'k', 1);
  const { allowed, retryAfterMs } = await store.consume(policy, 'k', 101);
  expect([allowed, retryAfterMs]).toEqual([false, undefined]);
  expect((await store.consume(policy, 'k', 99)).allowed).toBe(true);
});

it('asks the home store for more than the region holds', async () => {
  const policy = policyOf();
  await warm(policy, 10);
  const held = await heldOf(policy);
  const left = await leftAtHome(policy);
  expect(left).toBeGreaterThan(held);
  expect((await store.consume(policy, 'k', left)).allowed).toBe(true);
});

it('holds nothing of a fixed window that is over', async () => {
  const policy = policyOf({ limit: 100, window: 400, algorithm: 'fixed-window' });
  const { resetAfterMs } = await atHome.consume({ ...policy, lease: undefined }, 'x', 1);
  await new Promise((resolve) => setTimeout(resolve, resetAfterMs + 1));
  await warm(policy, 20);
  const { resetAfterMs: restMs } = await atHome.consume(policy, 'x', 1);
  await new Promise((resolve) => setTimeout(resolve, restMs + 1));
  // All of the new window, and none of the old.
  let allowed = 0;
  const burst = Array.from({ length: 150 }, () => store.consume(policy, 'k', 1));
  const sinceMs = Math.floor(Date.now() / 400);
  for (const decision of await Promise.all(burst)) if (decision.allowed) allowed++;
  if (Math.floor(Date.now() / 400) === sinceMs) expect(allowed).toBeLessThanOrEqual(100);
  expect(allowed).toBeGreaterThan(0);
});

it('lends to replicas whose policy has a lease: the region’s Redis is not asked for each call', async () => {
  const limiter: Limiter = createLimiter({
    store,
    policies: { p: { limit: 1000, window: '1h', lease: { ttl: '2s' } } },
    fallback: { deadline: LONG },
  });
  const origins: Record<string, number> = {};
  let allowed = 0;
  for (let round = 0; round < 400 && allowed < 1000; round++) {
    const calls = Array.from({ length: 5 }, () => limiter.consume({ p: 'k' }));
    for (const decision of await Promise.all(calls)) {
      origins[decision.origin] = (origins[decision.origin] ?? 0) + 1;
      if (decision.allowed) allowed++;
    }
  }
  expect(origins.memory).toBeGreaterThan(0);
  expect(allowed).toBeLessThanOrEqual(1000);
  await limiter.close();
});

it('rejects what is asked after it was closed', async () => {
  const policy = policyOf({ lease: true });
  await store.close();
  const claim = { policy, key: 'k', holder: 1, turn: 1, reports: [], costs: [], extra: 1 };
  for (const asked of [
    () => store.consume(policy, 'k', 1),
    () => store.consumeAll([{ policy, key: 'k', cost: 1 }]),
    () => store.claim(claim),
    () => store.refund(policy, 'k', 1, undefined),
    () => store.overcharge(policy, 'k', 1),
    () => store.reset(policy, 'k'),
  ]) {
    await expect(asked()).rejects.toMatchObject({ code: 'RL_CLOSED' });
  }
  expect(() => store.tryConsume()).toThrow(expect.objectContaining({ code: 'RL_CLOSED' }));
});

describe('cut off', () => {
  afterEach(async () => {
    await cable.accept();
    cable.delay({ toServerMs: 0, toClientMs: 0 });
    // The client is connected again.
    await expect.poll(() => far?.status, { timeout: 5000 }).toBe('ready');
  });

  /** What the home store was asked to take by force and to put back, and has answered. */
  function corrections(): { taken: number; back: number } {
    const sum = { taken: 0, back: 0 };
    const [refund, overcharge] = [home.refund.bind(home), home.overcharge.bind(home)];
    home.refund = async (...asked) => {
      const decision = await refund(...asked);
      sum.back += asked[2];
      return decision;
    };
    home.overcharge = async (...asked) => {
      const decision = await overcharge(...asked);
      sum.taken += asked[2];
      return decision;
    };
    return sum;
  }

  const policy = policyOf({ algorithm: 'gcra' });
  /** Asks until the home store has answered all that is under way, and is asked again. */
  const settle = async (): Promise<string> => {
    await store.consume(policy, 'k', 0);
    return store.homeState;
  };

  it('owes what it took by force while cut off, and pays it', async () => {
    await reopen('50ms');
    await store.consume(policy, 'k', 1);
    const sum = corrections();
    await cable.refuse();
    await expect.poll(settle).toBe('lost');
    const { origin, remaining } = await store.overcharge(policy, 'k', 20);
    expect([origin, remaining]).toEqual(['fallback', 30]);
    expect(await leftAtHome(policy)).toBe(99);
    await cable.accept();
    await expect.poll(settle, { timeout: 8000 }).toBe('up');
    await expect.poll(() => sum.taken, { timeout: 4000 }).toBe(20);
    expect(await leftAtHome(policy)).toBe(79);
  });

  it('charges once by force what the home store answers too late', async () => {
    await reopen('50ms');
    await store.consume(policy, 'k', 1);
    const sum = corrections();
    cable.delay({ toServerMs: 80, toClientMs: 0 });
    expect((await store.overcharge(policy, 'k', 20)).origin).toBe('fallback');
    await expect.poll(() => sum.taken).toBe(20);
    cable.delay({ toServerMs: 0, toClientMs: 0 });
    await expect.poll(settle, { timeout: 8000 }).toBe('up');
    for (let i = 0; i < 5; i++) await settle();
    expect(await leftAtHome(policy)).toBe(79);
  });

  it('charges once what the home store decides too late', async () => {
    await reopen('50ms');
    await store.consume(policy, 'k', 1);
    const sum = corrections();
    cable.delay({ toServerMs: 80, toClientMs: 0 });
    const { allowed, origin } = await store.consume(policy, 'k', 10);
    expect([allowed, origin]).toEqual([true, 'fallback']);
    cable.delay({ toServerMs: 0, toClientMs: 0 });
    await expect.poll(settle, { timeout: 8000 }).toBe('up');
    await expect
      .poll(() => settle().then(() => sum), { timeout: 4000 })
      .toEqual({ taken: 10, back: 10 });
    expect(await leftAtHome(policy)).toBe(89);
  });
});

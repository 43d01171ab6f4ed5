import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Decision } from '../../../../src/decision/decision.js';
import { ALGORITHMS, type Policy } from '../../../../src/policy/policy.js';
import type { RedisClient } from '../../../../src/store/redis/client.js';
import type { RedisStore } from '../../../../src/store/redis/redis-store.js';
import { frozenRedisStore } from '../../../../src/testing/frozen-redis-store.js';
import { keysOf } from '../../../support/redis.js';
import { type Fleet, sharded, useFleets } from '../../../support/sharded.js';

const openFleet = useFleets();

const BUCKETS = ['token-bucket', 'gcra'] as const;
const WINDOWS = ['fixed-window', 'sliding-window', 'sliding-log'] as const;

let fleet: Fleet;
beforeEach(() => {
  fleet = openFleet(4);
});
afterEach(async () => {
  await Promise.all(fleet.stores.map((store) => store.close()));
});

/** So many calls of one permit, one after the other. */
async function take(store: RedisStore, policy: Policy, count: number): Promise<Decision[]> {
  const decisions: Decision[] = [];
  for (let i = 0; i < count; i++) decisions.push(await store.consume(policy, 'k', 1));
  return decisions;
}

async function left(policy: Policy): Promise<number> {
  return (await (fleet.stores[3] as RedisStore).consume(policy, 'k', 0)).remaining;
}

/** A store whose client tells which keys each call of a script has. */
function watched(policy: { fails?: (keys: readonly string[]) => boolean } = {}) {
  const calls: string[][] = [];
  const { client, clock, prefix } = fleet;
  const note = (count: number, rest: (string | number)[]) => {
    const keys = rest.slice(0, count).map(String);
    calls.push(keys);
    if (policy.fails?.(keys)) throw new Error('READONLY lost');
  };
  const spy: RedisClient = {
    isCluster: true,
    evalsha: async (sha1, count, ...rest) => {
      note(count, rest);
      return client.evalsha(sha1, count, ...rest);
    },
    eval: async (text, count, ...rest) => {
      note(count, rest);
      return client.eval(text, count, ...rest);
    },
  };
  const store = frozenRedisStore(spy, clock, { prefix });
  return { store, calls };
}

describe.each(ALGORITHMS)('%s', (algorithm) => {
  it('gives all permits of the whole, one by one, and no more', async () => {
    const policy = sharded(algorithm);
    const decisions = await take(fleet.store, policy, 101);
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(100);
    expect(decisions[100]).toMatchObject({ allowed: false, remaining: 0, limit: 100, policy: 'p' });
    // Of one bucket, whose other parts were not heard of yet.
    expect(decisions[0]?.remaining).toBeGreaterThanOrEqual(88);
    expect(decisions[0]?.remaining).toBeLessThan(100);
    expect(decisions[99]?.remaining).toBe(0);
  });

  it('a turn of calls by four replicas at once: all permits, none twice', async () => {
    const policy = sharded(algorithm);
    const asked = fleet.stores.flatMap((store) =>
      Array.from({ length: 40 }, () => store.consume(policy, 'k', 1)),
    );
    const decisions = await Promise.all(asked);
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(100);
  });

  it('a peek adds up what all have', async () => {
    const policy = sharded(algorithm);
    await take(fleet.store, policy, 37);
    expect(await left(policy)).toBe(63);
    const found = await fleet.store.consume(policy, 'other', 0);
    expect(found).toMatchObject({ remaining: 100, refillAfterMs: undefined, resetAfterMs: 0 });
  });

  it('a cost above each share is gathered: all of it, or nothing', async () => {
    const policy = sharded(algorithm);
    expect(await fleet.store.consume(policy, 'k', 60)).toMatchObject({
      allowed: true,
      remaining: 40,
    });
    expect(await fleet.store.consume(policy, 'k', 41)).toMatchObject({ allowed: false });
    expect(await left(policy)).toBe(40);
    expect(await fleet.store.consume(policy, 'k', 40)).toMatchObject({
      allowed: true,
      remaining: 0,
    });
    const never = await fleet.store.consume(policy, 'k', 101);
    expect(never).toMatchObject({ allowed: false, retryAfterMs: undefined });
    expect(await fleet.store.consume(policy, 'other', 100)).toMatchObject({ allowed: true });
  });

  it('two that gather at once never have more than there is; what does not come together is back', async () => {
    const policy = sharded(algorithm);
    for (let i = 0; i < 10; i++) {
      const key = `k${i}`;
      const asked = fleet.stores.map((store) => store.consume(policy, key, 60));
      const allowed = (await Promise.all(asked)).filter((decision) => decision.allowed);
      expect(allowed.length).toBeLessThanOrEqual(1);
      const found = await fleet.store.consume(policy, key, 0);
      expect(found.remaining).toBe(100 - 60 * allowed.length);
    }
  });

  it('what was gathered is put back where a part was lost to others', async () => {
    const policy = sharded(algorithm);
    // Looked for, then ten are taken of one sub-bucket in the same turn: 95 are no longer there.
    const gathered = fleet.store.consume(policy, 'k', 95);
    const others = Array.from({ length: 10 }, () => fleet.stores[1]?.consume(policy, 'k', 1));
    expect(await gathered).toMatchObject({ allowed: false });
    for (const decision of await Promise.all(others)) expect(decision?.allowed).toBe(true);
    expect(await left(policy)).toBe(90);
  });

  it('refunds of decisions fill it up, whoever gives them back, also all in one turn', async () => {
    const policy = sharded(algorithm);
    const decisions = await take(fleet.store, policy, 80);
    const [some, others] = [decisions.slice(0, 50), decisions.slice(50)];
    const other = fleet.stores[1] as RedisStore;
    for (const { decidedAtMs } of others) await other.refund(policy, 'k', 1, decidedAtMs);
    expect(await left(policy)).toBe(50);
    await Promise.all(some.map(({ decidedAtMs }) => other.refund(policy, 'k', 1, decidedAtMs)));
    expect(await left(policy)).toBe(100);
    const more = await other.refund(policy, 'k', 5, decisions[0]?.decidedAtMs);
    expect(more).toMatchObject({ remaining: 100, resetAfterMs: 0 });
  });

  it('a refund of what was gathered, and one that tells nothing, find their room', async () => {
    const policy = sharded(algorithm);
    const { decidedAtMs } = await fleet.store.consume(policy, 'k', 70);
    await fleet.store.refund(policy, 'k', 30, decidedAtMs);
    expect(await left(policy)).toBe(60);
    const found = await fleet.store.refund(policy, 'k', 40, undefined);
    expect(found).toMatchObject({ allowed: true, remaining: 100 });
    expect((await take(fleet.store, policy, 101)).filter(({ allowed }) => allowed)).toHaveLength(
      100,
    );
  });

  it('an overcharge takes what is there, then goes into debt, down to the overdraft of the whole', async () => {
    const policy = sharded(algorithm, { overdraft: 40 });
    await take(fleet.store, policy, 5);
    expect(await fleet.store.overcharge(policy, 'k', 50)).toMatchObject({ remaining: 45 });
    expect(await left(policy)).toBe(45);
    expect(await fleet.store.overcharge(policy, 'k', 65)).toMatchObject({ remaining: 0 });
    // 20 below zero: so many come back before there is one again.
    await fleet.store.refund(policy, 'k', 10, fleet.clock.nowMs());
    expect(await fleet.store.overcharge(policy, 'k', 1000)).toMatchObject({ remaining: 0 });
    fleet.clock.advance(40_000);
    expect(await left(policy)).toBe(100);
  });

  it('overcharges by four replicas at once count in full', async () => {
    const policy = sharded(algorithm);
    const overcharge = (permits: number) =>
      Promise.all(fleet.stores.map((store) => store.overcharge(policy, 'k', permits)));
    await overcharge(20);
    expect(await left(policy)).toBe(20);
    await overcharge(25);
    expect(await left(policy)).toBe(0);
    // 80 below zero, which comes back as permits or not before the window is over.
    await fleet.store.refund(policy, 'k', 80, fleet.clock.nowMs());
    expect(await left(policy)).toBeLessThanOrEqual(8);
  });

  it('a reset makes all of it full', async () => {
    const policy = sharded(algorithm);
    await fleet.store.consume(policy, 'k', 90);
    await (fleet.stores[1] as RedisStore).reset(policy, 'k');
    expect(await keysOf(fleet.client, fleet.prefix)).toEqual([]);
    expect(await left(policy)).toBe(100);
  });

  it('a denial is remembered of each sub-bucket: not all are asked again', async () => {
    const policy = sharded(algorithm);
    const { store, calls } = watched();
    await take(store, policy, 101);
    calls.length = 0;
    expect(await store.consume(policy, 'k', 1)).toMatchObject({ allowed: false });
    expect(calls.flat()).toHaveLength(1);
    await store.close();
  });

  it('a refund by this replica is found at once, though all were dry', async () => {
    const policy = sharded(algorithm);
    const decisions = await take(fleet.store, policy, 101);
    await fleet.store.refund(policy, 'k', 1, decisions[3]?.decidedAtMs);
    expect(await fleet.store.consume(policy, 'k', 1)).toMatchObject({ allowed: true });
    expect(await fleet.store.consume(policy, 'k', 1)).toMatchObject({ allowed: false });
  });

  it('a shadow counts, and never denies', async () => {
    const policy = sharded(algorithm, { shadow: true });
    const decisions = await take(fleet.store, policy, 101);
    expect(decisions.map(({ wouldDeny }) => wouldDeny).filter(Boolean)).toHaveLength(1);
    expect(decisions.every(({ allowed }) => allowed)).toBe(true);
    expect(await fleet.store.consume(policy, 'k', 50)).toMatchObject({
      allowed: true,
      wouldDeny: true,
    });
  });

  it('every key is of a sub-bucket and has an expiry', async () => {
    const policy = sharded(algorithm);
    await take(fleet.store, policy, 100);
    const stored = await keysOf(fleet.client, fleet.prefix);
    const keys = stored.filter((key) => !key.endsWith(':frozen'));
    expect(keys).toHaveLength(8);
    for (const key of keys) {
      expect(key).toMatch(/:\{k%@[0-9a-z]{2}\}:p\/[0-7]\.8:[a-z]{2}1$/);
      expect(await fleet.client.pttl(key)).toBeGreaterThan(0);
    }
  });
});

it.each(WINDOWS)('%s: a refund does not come back into a later window', async (algorithm) => {
  const policy = sharded(algorithm);
  const { decidedAtMs } = await fleet.store.consume(policy, 'k', 1);
  const gathered = await fleet.store.consume(policy, 'k', 40);
  fleet.clock.advance(20_000);
  await take(fleet.store, policy, 100);
  await fleet.store.refund(policy, 'k', 1, decidedAtMs);
  await fleet.store.refund(policy, 'k', 40, gathered.decidedAtMs);
  expect(await left(policy)).toBe(0);
});

/** Takes permits by another replica, whose home is another sub-bucket than that of `first`. */
async function takeElsewhere(policy: Policy, first: Decision, cost: number): Promise<void> {
  const indexOf = ({ decidedAtMs }: Decision) => decidedAtMs % 1;
  for (let i = 0; i < 100; i++) {
    const { clock, prefix, client } = fleet;
    const other = frozenRedisStore(client, clock, { prefix });
    const decision = await other.consume(policy, 'k', 1);
    if (indexOf(decision) !== indexOf(first)) {
      await other.consume(policy, 'k', cost - 1);
      return other.close();
    }
    await other.refund(policy, 'k', 1, decision.decidedAtMs);
    await other.close();
  }
  throw new Error('all begin at the same sub-bucket');
}

it.each(BUCKETS)(
  '%s: a refund goes where there is room, not where it was taken',
  async (algorithm) => {
    const policy = sharded(algorithm);
    const first = await fleet.store.consume(policy, 'k', 1);
    await takeElsewhere(policy, first, 12);
    await fleet.store.refund(policy, 'k', 13, first.decidedAtMs);
    expect(await left(policy)).toBe(100);
  },
);

it.each(['fixed-window', 'sliding-log'] as const)(
  '%s: a refund goes to the sub-bucket whose window it was taken in',
  async (algorithm) => {
    const policy = sharded(algorithm);
    const first = await fleet.store.consume(policy, 'k', 1);
    fleet.clock.advance(1);
    await takeElsewhere(policy, first, 10);
    await fleet.store.refund(policy, 'k', 1, first.decidedAtMs);
    expect(await left(policy)).toBe(90);
  },
);

it.each(BUCKETS)(
  '%s: debt is spread, so that the whole is out of it as one bucket is',
  async (algorithm) => {
    const policy = sharded(algorithm);
    await fleet.store.overcharge(policy, 'k', 148);
    const found = await fleet.store.consume(policy, 'k', 0);
    expect(found.remaining).toBe(0);
    // 48 permits in debt, 10 a second: full after 14.8 s. The greatest part of it is 7 of 12.
    expect(found.resetAfterMs).toBeGreaterThanOrEqual(14_800);
    expect(found.resetAfterMs).toBeLessThanOrEqual(16_000);
  },
);

describe('where it asks', () => {
  const policy = sharded('token-bucket');

  it('keeps to one sub-bucket, so that the calls of a turn are one entry, then moves on', async () => {
    const { store, calls } = watched();
    const seen = new Set<string>();
    for (let turn = 0; turn < 8; turn++) {
      calls.length = 0;
      await Promise.all(Array.from({ length: 5 }, () => store.consume(policy, 'k', 1)));
      expect(calls.flat()).toHaveLength(1);
      seen.add(calls[0]?.[0] as string);
      await store.consume(policy, 'k', 1);
      expect(new Set(calls.flat()).size).toBe(1);
      fleet.clock.advance(250);
    }
    expect(seen.size).toBe(8);
    await store.close();
  });

  it('begins at any, so that replicas do not all ask the same', async () => {
    const first = new Set<string>();
    for (let i = 0; i < 40; i++) {
      const { store, calls } = watched();
      await store.consume(policy, `k`, 1);
      first.add(calls[0]?.[0] as string);
      await store.close();
    }
    expect(first.size).toBeGreaterThan(2);
  });

  it('leaves one that does not answer: the next call is decided', async () => {
    let lost: string | undefined;
    const { store } = watched({
      fails: ([key]) => {
        lost ??= key;
        return key === lost;
      },
    });
    await expect(store.consume(policy, 'k', 1)).rejects.toMatchObject({ code: 'RL_STORE_FAILED' });
    const decisions = await take(store, policy, 80);
    expect(decisions.every(({ allowed }) => allowed)).toBe(true);
    await store.close();
  });

  it('leaves one that is silent, for a while: others decide', async () => {
    const { client, clock, prefix } = fleet;
    let silent: string | undefined;
    const asked: string[] = [];
    const answer = (key: string, call: () => Promise<unknown>) => {
      silent ??= key;
      asked.push(key);
      return key === silent ? new Promise<never>(() => {}) : call();
    };
    const spy: RedisClient = {
      isCluster: true,
      evalsha: (sha1, count, ...rest) =>
        answer(String(rest[0]), () => client.evalsha(sha1, count, ...rest)),
      eval: (text, count, ...rest) =>
        answer(String(rest[0]), () => client.eval(text, count, ...rest)),
    };
    const store = frozenRedisStore(spy, clock, { prefix });
    void store.consume(policy, 'k', 1).catch(() => {});
    await new Promise(setImmediate);
    clock.advance(100);
    for (let i = 0; i < 9; i++) {
      expect(await store.consume(policy, 'k', 1)).toMatchObject({ allowed: true });
      clock.advance(100);
    }
    expect(asked.filter((key) => key === silent)).toHaveLength(1);
    await store.close();
  });

  it('a denial needs the word of all: where one cannot be asked there is none', async () => {
    let lost: string | undefined;
    const { store } = watched({ fails: (keys) => lost !== undefined && keys.includes(lost) });
    await take(store, policy, 100);
    const stored = await keysOf(fleet.client, fleet.prefix);
    lost = stored.find((key) => !key.endsWith(':frozen'));
    fleet.clock.advance(1);
    const { store: other } = watched({ fails: (keys) => keys.includes(lost as string) });
    await expect(other.consume(policy, 'k', 60)).rejects.toMatchObject({ code: 'RL_STORE_FAILED' });
    await Promise.all([store.close(), other.close()]);
  });
});

describe('several buckets in one call', () => {
  const big = sharded('token-bucket');
  const user = { ...sharded('token-bucket', { limit: 10, shards: undefined }), name: 'user' };
  const charges = (cost: number) => [
    { policy: big, key: 'k', cost },
    { policy: user, key: 'u', cost: 1 },
  ];

  it('are charged all, or none', async () => {
    for (let i = 0; i < 10; i++) {
      const decisions = await fleet.store.consumeAll(charges(1));
      expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true]);
    }
    const denied = await fleet.store.consumeAll(charges(50));
    expect(denied.map(({ allowed, policy }) => [policy, allowed])).toEqual([
      ['p', true],
      ['user', false],
    ]);
    expect(denied[0]?.remaining).toBe(90);
    expect(await left(big)).toBe(90);
  });

  it('also where the sharded one denies, and where it is alone', async () => {
    expect((await fleet.store.consumeAll(charges(100))).map(({ allowed }) => allowed)).toEqual([
      true,
      true,
    ]);
    const back = [charges(1)[1], charges(1)[0]] as ReturnType<typeof charges>;
    const denied = await fleet.store.consumeAll(back);
    expect(denied.map(({ allowed }) => allowed)).toEqual([true, false]);
    expect((await fleet.store.consume(user, 'u', 0)).remaining).toBe(9);
    const [alone] = await fleet.store.consumeAll([{ policy: big, key: 'other', cost: 30 }]);
    expect(alone).toMatchObject({ allowed: true, remaining: 70 });
    expect((await fleet.store.consume(big, 'other', 0)).remaining).toBe(70);
  });
});

describe('another number of shards', () => {
  it('is another bucket, which is full', async () => {
    const eight = sharded('token-bucket');
    const four = sharded('token-bucket', { shards: 4 });
    const whole = sharded('token-bucket', { shards: undefined });
    await fleet.store.consume(eight, 'k', 100);
    expect((await fleet.store.consume(four, 'k', 100)).allowed).toBe(true);
    expect((await fleet.store.consume(whole, 'k', 100)).allowed).toBe(true);
    for (const policy of [eight, four, whole]) expect(await left(policy)).toBe(0);
  });
});

it('a key of any length is its own bucket, the same to all replicas', async () => {
  const policy = sharded('token-bucket');
  const long = 'k'.repeat(100_000);
  await fleet.store.consume(policy, long, 70);
  const other = fleet.stores[1] as RedisStore;
  expect((await other.consume(policy, long, 0)).remaining).toBe(30);
  expect((await other.consume(policy, `${long}k`, 0)).remaining).toBe(100);
  expect(
    Math.max(...(await keysOf(fleet.client, fleet.prefix)).map((key) => key.length)),
  ).toBeLessThan(200);
});

it('what was asked before the store is closed is answered, what is asked after is refused', async () => {
  const policy = sharded('token-bucket');
  const asked = [
    fleet.store.consume(policy, 'k', 60),
    fleet.store.refund(policy, 'k', 1, undefined),
    fleet.store.overcharge(policy, 'k', 1),
    fleet.store.reset(policy, 'other'),
  ];
  await fleet.store.close();
  await expect(Promise.all(asked)).resolves.toHaveLength(4);
  const closed = { code: 'RL_CLOSED' };
  await expect(fleet.store.consume(policy, 'k', 1)).rejects.toMatchObject(closed);
  await expect(fleet.store.refund(policy, 'k', 1, undefined)).rejects.toMatchObject(closed);
  await expect(fleet.store.overcharge(policy, 'k', 1)).rejects.toMatchObject(closed);
  await expect(fleet.store.reset(policy, 'k')).rejects.toMatchObject(closed);
});

describe('no false denials', () => {
  /** Numbers from 0 to 1, the same in every run. */
  function randoms(seed: number): () => number {
    let state = seed;
    return () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 2 ** 32;
    };
  }

  it('a tenant at 89 % of its limit is not denied by four replicas; shards picked at random deny', async () => {
    const policy = sharded('token-bucket', { limit: 80, window: '8s' });
    const eighth = sharded('token-bucket', { limit: 10, window: '8s', shards: undefined });
    const random = randoms(7);
    const calls = 3000;
    const denied = { sharded: 0, picked: 0 };
    for (let i = 0; i < calls; i++) {
      // At random times, 8.9 a second.
      fleet.clock.advance(Math.round(-Math.log(1 - random()) * (1000 / 8.9)));
      const store = fleet.stores[i % 4] as RedisStore;
      const pick = `k/${Math.floor(random() * 8)}`;
      const [own, picked] = await Promise.all([
        store.consume(policy, 'k', 1),
        store.consume(eighth, pick, 1),
      ]);
      if (!own.allowed) denied.sharded++;
      if (!picked.allowed) denied.picked++;
    }
    expect(denied.sharded / calls).toBeLessThan(0.001);
    expect(denied.picked / calls).toBeGreaterThan(0.005);
  });
});

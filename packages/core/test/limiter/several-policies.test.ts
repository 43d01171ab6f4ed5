import { afterEach, describe, expect, it } from 'vitest';
import { createLimiter, type Limiter } from '../../src/limiter/limiter.js';
import { parsePolicy } from '../../src/policy/policy.js';
import type { RedisClient } from '../../src/store/redis/client.js';
import { redisStore } from '../../src/store/redis/redis-store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { PATIENT } from '../support/patient.js';
import { commandCalls, openOwn, openShared } from '../support/redis.js';
import { WORLDS } from '../support/worlds.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describe.each(WORLDS)('several policies on one call, on $name', (world) => {
  async function open<const Name extends string>(
    policies: Parameters<typeof createLimiter<Name>>[0]['policies'],
  ): Promise<{ limiter: Limiter<Name>; clock: ManualClock }> {
    const clock = new ManualClock();
    const { store, close } = await world.open(clock);
    const limiter = createLimiter<Name>({ policies, store, clock });
    closing.push(close, () => limiter.close());
    return { limiter, clock };
  }
  const peeked = async (limiter: Limiter, keys: Record<string, string>) =>
    (await limiter.peek(keys)).remaining;

  it('G2 all are charged or none; the decision names the one that binds', async () => {
    const { limiter } = await open({
      perDay: { limit: 100, window: '1d' },
      perSecond: { limit: 2, window: '1s' },
    });
    const keys = { perDay: 't', perSecond: 't' };
    const first = await limiter.consume(keys);
    expect(first).toMatchObject({ allowed: true, policy: 'perSecond', remaining: 1 });
    expect(first.each?.map(({ policy, remaining }) => [policy, remaining])).toEqual([
      ['perDay', 99],
      ['perSecond', 1],
    ]);
    await limiter.consume(keys);
    for (let i = 0; i < 20; i++) {
      expect(await limiter.consume(keys)).toMatchObject({
        allowed: false,
        policy: 'perSecond',
        retryAfterMs: 500,
      });
    }
    expect(await peeked(limiter, { perDay: 't' })).toBe(98);
  });

  it('X-03 a denied call charges none of the policies that would have allowed it', async () => {
    const { limiter } = await open({
      a: { limit: 10, window: '1h' },
      b: { limit: 1, window: '1h', algorithm: 'sliding-log' },
      c: { limit: 10, window: '1h', algorithm: 'fixed-window' },
    });
    const keys = { a: 'k', b: 'k', c: 'k' };
    await limiter.consume(keys);
    const denied = await limiter.consume(keys);
    expect(denied.each?.map(({ policy, allowed }) => [policy, allowed])).toEqual([
      ['a', true],
      ['b', false],
      ['c', true],
    ]);
    expect([await peeked(limiter, { a: 'k' }), await peeked(limiter, { c: 'k' })]).toEqual([9, 9]);
  });

  it('H-09 the longest wait of those that denied is told; never fitting is the longest', async () => {
    const { limiter } = await open({
      minute: { limit: 1, window: '1m', algorithm: 'fixed-window' },
      hour: { limit: 1, window: '1h', algorithm: 'fixed-window' },
      tiny: { limit: 1, window: '1s' },
    });
    await limiter.consume({ minute: 'k', hour: 'k' });
    expect(await limiter.consume({ minute: 'k', hour: 'k' })).toMatchObject({
      policy: 'hour',
      retryAfterMs: 3_600_000,
    });
    const never = await limiter.consume(
      { minute: 'k', hour: 'k', tiny: 'k' },
      { cost: { tiny: 2 } },
    );
    expect(never).toMatchObject({ allowed: false, policy: 'tiny', retryAfterMs: undefined });
  });

  it('each policy may have its own cost: a request, and its tokens', async () => {
    const { limiter } = await open({
      requests: { limit: 10, window: '1m' },
      tokens: { limit: 1000, window: '1m' },
    });
    const keys = { requests: 'k', tokens: 'k' };
    const decision = await limiter.consume(keys, { cost: { tokens: 700 } });
    expect(decision.each?.map(({ remaining }) => remaining)).toEqual([9, 300]);
    const denied = await limiter.consume(keys, { cost: { tokens: 301 } });
    expect(denied).toMatchObject({ allowed: false, policy: 'tokens' });
    expect(await peeked(limiter, { requests: 'k' })).toBe(9);
    await expect(limiter.consume(keys, { cost: { tokens: 1.5 } })).rejects.toThrow(
      'cost.tokens must be an integer of at least 0, got 1.5',
    );
  });

  it('C-05 F-05 policies on one store count apart', async () => {
    const { limiter } = await open({
      day: { limit: 500, window: '24h' },
      minute: { limit: 10, window: '60s' },
    });
    for (let i = 0; i < 10; i++) {
      await limiter.consume({ day: 'k' });
      await limiter.consume({ minute: 'k' });
    }
    expect(await peeked(limiter, { day: 'k' })).toBe(490);
    expect(await limiter.peek({ minute: 'k' })).toMatchObject({ remaining: 0 });
  });

  it('a shadow policy counts, says what it would have done, and never denies', async () => {
    const { limiter } = await open({
      real: { limit: 5, window: '1h' },
      trial: { limit: 2, window: '1h', shadow: true },
    });
    const keys = { real: 'k', trial: 'k' };
    const seen = [];
    for (let i = 0; i < 6; i++) seen.push(await limiter.consume(keys));
    expect(seen.map(({ allowed }) => allowed)).toEqual([true, true, true, true, true, false]);
    expect(seen.map(({ each }) => each?.[1]?.wouldDeny)).toEqual([
      false,
      false,
      true,
      true,
      true,
      true,
    ]);
    expect(seen.every(({ policy }) => policy === 'real')).toBe(true);
    const alone = await limiter.consume({ trial: 'k' });
    expect(alone).toMatchObject({ allowed: true, wouldDeny: true, retryAfterMs: undefined });
    // What was not taken does not come back: from the shadow policy, or from a denial.
    const refunded = await limiter.refund(keys, { decision: seen[3] });
    expect(refunded.each?.map(({ remaining }) => remaining)).toEqual([1, 0]);
    const denied = await limiter.refund(keys, { decision: seen[5] });
    expect(denied.each?.map(({ remaining }) => remaining)).toEqual([1, 0]);
    const settled = await limiter.settle(keys, { estimate: 1, cost: 0, decision: seen[4] });
    expect(settled.each?.map(({ remaining }) => remaining)).toEqual([2, 0]);
  });

  it('settle charges what the estimate was short of, and gives back what it was too much', async () => {
    const { limiter, clock } = await open({
      tokens: { limit: 1000, window: '1m', overdraft: 500 },
    });
    const keys = { tokens: 'k' };
    await limiter.consume(keys, { cost: 600 });
    expect(await limiter.settle(keys, { estimate: 600, cost: 900 })).toMatchObject({
      remaining: 100,
    });
    await limiter.consume(keys, { cost: 100 });
    expect(await limiter.settle(keys, { estimate: 100, cost: 2000 })).toMatchObject({
      remaining: 0,
      resetAfterMs: 90_000,
    });
    const denied = await limiter.consume(keys);
    expect(denied).toMatchObject({ allowed: false, retryAfterMs: 30_060 });
    clock.advance(30_060);
    expect(await limiter.consume(keys)).toMatchObject({ allowed: true, remaining: 0 });
    clock.advance(60_000);
    const decision = await limiter.consume(keys, { cost: 800 });
    const settled = await limiter.settle(keys, { estimate: 800, cost: 50, decision });
    expect(settled).toMatchObject({ remaining: 950 });
    await expect(limiter.settle(keys, { cost: 5 } as never)).rejects.toThrow(
      'estimate must be an integer of at least 0, got undefined',
    );
  });

  it('a refund with its decision never reaches into a later window', async () => {
    const { limiter, clock } = await open({
      w: { limit: 5, window: '10s', algorithm: 'fixed-window' },
    });
    const decision = await limiter.consume({ w: 'k' }, { cost: 3 });
    clock.advance(10_000);
    await limiter.consume({ w: 'k' }, { cost: 4 });
    const late = await limiter.refund({ w: 'k' }, { cost: 3, decision });
    expect(late.remaining).toBe(1);
    expect((await limiter.refund({ w: 'k' }, { cost: 3 })).remaining).toBe(4);
  });

  it('a tier changes the values for one call, and the bucket stays the same', async () => {
    const { limiter } = await open({ tenant: { limit: 10, window: '1m' } });
    const gold = Object.freeze({ limit: 100 });
    expect(await limiter.consume({ tenant: 'k' }, { policies: { tenant: gold } })).toMatchObject({
      limit: 100,
      remaining: 99,
    });
    expect(await limiter.consume({ tenant: 'k' })).toMatchObject({ limit: 10, remaining: 8 });
    await expect(
      limiter.consume({ tenant: 'k' }, { policies: { tenant: { limit: -1 } } }),
    ).rejects.toThrow('policies.tenant.limit must be an integer of at least 0, got -1');
    for (const [options, message] of [
      [
        { policies: { tenent: gold } },
        'policies names the policy "tenent"; the limiter has "tenant"',
      ],
      [{ cost: { tenent: 5 } }, 'cost names the policy "tenent"; the limiter has "tenant"'],
      [{ policies: 'gold' }, 'policies must be an object by policy name, got "gold"'],
      [
        { policies: { tenant: 5 } },
        'policies.tenant must be an object with what is to change, got 5',
      ],
    ]) {
      await expect(limiter.consume({ tenant: 'k' }, options as never)).rejects.toThrow(
        `${message}`,
      );
    }
    await expect(limiter.consume({ tenant: 'k' }, { costs: 5 } as never)).rejects.toThrow(
      'costs is not an option; the options are cost, policies, decision',
    );
    await expect(limiter.consume({ tenant: 'k' }, 5 as never)).rejects.toThrow(
      'options must be an object such as { cost: 1 }, got 5',
    );
  });
});

describe('policies in different slots of a Cluster', () => {
  it('are charged in turn, and what was charged is put back on a later denial', async () => {
    const shared = await openShared();
    closing.push(shared.close);
    // The real server behind what a Cluster's client looks like.
    const client: RedisClient = {
      isCluster: true,
      evalsha: (sha1, count, ...args) => shared.client.evalsha(sha1, count, ...args),
      eval: (text, count, ...args) => shared.client.eval(text, count, ...args),
    };
    const store = redisStore(client, { prefix: `${shared.prefix}slots` });
    const limiter = createLimiter({
      policies: {
        tenant: { limit: 100, window: '365d' },
        endpoint: { limit: 2, window: '365d' },
        trial: { limit: 1, window: '365d', shadow: true },
      },
      store,
      fallback: PATIENT,
    });
    const keys = { tenant: 't42', endpoint: 'search', trial: 'x' };
    const decisions = [];
    for (let i = 0; i < 4; i++) decisions.push(await limiter.consume(keys));
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, false, false]);
    expect(decisions[3]).toMatchObject({ policy: 'endpoint' });
    expect(decisions[2]?.each?.map(({ policy, allowed }) => [policy, allowed])).toEqual([
      ['tenant', true],
      ['endpoint', false],
      ['trial', true],
    ]);
    expect((await limiter.peek({ tenant: 't42' })).remaining).toBe(98);
    expect((await limiter.peek({ trial: 'x' })).remaining).toBe(0);
    await limiter.close();
  });
});

describe('policies in different slots, in trouble', () => {
  async function open(fails: (key: string) => boolean) {
    const shared = await openShared();
    closing.push(shared.close);
    const guard = (keys: readonly (string | number)[]) => {
      if (fails(`${keys[0]}`)) throw new Error('CLUSTERDOWN');
    };
    // The real server; calls for some keys do not reach it.
    const client: RedisClient = {
      isCluster: true,
      evalsha: async (sha1, count, ...args) => {
        guard(args);
        return shared.client.evalsha(sha1, count, ...args);
      },
      eval: async (text, count, ...args) => {
        guard(args);
        return shared.client.eval(text, count, ...args);
      },
    };
    const store = redisStore(client, { prefix: `${shared.prefix}trouble` });
    const policies = {
      tenant: { limit: 100, window: '365d' },
      endpoint: { limit: 100, window: '365d' },
    };
    const fallback = { ...PATIENT, mode: 'closed' } as const;
    return { store, limiter: createLimiter({ policies, store, fallback }) };
  }

  it('what was charged is put back where a later slot cannot be asked', async () => {
    const { limiter } = await open((key) => key.includes('{search}'));
    expect(await limiter.consume({ tenant: 't', endpoint: 'search' })).toMatchObject({
      allowed: false,
      origin: 'fallback',
      fallback: { mode: 'closed', fault: 'unavailable' },
    });
    expect((await limiter.peek({ tenant: 't' })).remaining).toBe(100);
  });

  it('close answers a call that is on its way from slot to slot', async () => {
    const { limiter, store } = await open(() => false);
    const asked = limiter.consume({ tenant: 't', endpoint: 'search' });
    await store.close();
    expect(await asked).toMatchObject({ allowed: true, remaining: 99 });
    await expect(limiter.consume({ tenant: 't', endpoint: 'search' })).rejects.toMatchObject({
      code: 'RL_CLOSED',
    });
  });
});

describe('D-03 the work for a check does not grow with the limit', () => {
  it('a full sliding log of 10,000: a check or a look reads a handful of entries', async () => {
    const own = await openOwn();
    closing.push(own.close);
    const policy = parsePolicy(
      'log',
      { algorithm: 'sliding-log', limit: 10_000, window: '365d' },
      '',
    );
    for (let i = 0; i < 10; i++) {
      const calls = Array.from({ length: 1000 }, () => own.store.consume(policy, 'k', 1));
      await Promise.all(calls);
    }
    expect(await own.client.strlen('rl:{k}:log:sl1')).toBe(16 + 16 * 10_000);
    await own.client.config('RESETSTAT');
    expect((await own.store.consume(policy, 'k', 1)).allowed).toBe(false);
    expect((await own.store.consume(policy, 'k', 5000)).allowed).toBe(false);
    expect((await own.store.consume(policy, 'k', 0)).remaining).toBe(0);
    const { getrange } = await commandCalls(own.client);
    expect(getrange).toBeGreaterThan(0);
    expect(getrange).toBeLessThan(3 * 60);
  });
});

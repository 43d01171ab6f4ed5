import { afterEach, describe, expect, it } from 'vitest';
import {
  createLimiter,
  type Keys,
  type Limiter,
  type LimiterOptions,
} from '../../src/limiter/limiter.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import type { Store } from '../../src/store/store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { PATIENT } from '../support/patient.js';
import { openShared } from '../support/redis.js';
import { MEMORY, WORLDS } from '../support/worlds.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const policies = {
  tenant: { limit: 5, window: '60s' },
  search: { limit: 2, window: '1s' },
} as const;

async function open(world = MEMORY) {
  const clock = new ManualClock();
  const { store, close } = await world.open(clock);
  const limiter = createLimiter({ policies, store, fallback: PATIENT, clock });
  closing.push(close, () => limiter.close());
  return { limiter, store, clock };
}

/** Every way to ask the store. */
const callsOf = (limiter: Limiter<'tenant' | 'search'>) => [
  (keys: Keys<'tenant'>): Promise<unknown> => limiter.consume(keys),
  (keys: Keys<'tenant'>): Promise<unknown> => limiter.peek(keys),
  (keys: Keys<'tenant'>): Promise<unknown> => limiter.refund(keys),
  (keys: Keys<'tenant'>): Promise<unknown> => limiter.reset(keys),
];

describe.each(WORLDS)('a limiter on $name', (world) => {
  it('decides each policy on its own buckets', async () => {
    const { limiter, clock } = await open(world);
    const origin = world.name === 'Redis' ? 'store' : 'memory';
    expect(await limiter.consume({ tenant: 'a' })).toEqual({
      allowed: true,
      policy: 'tenant',
      limit: 5,
      windowMs: 60_000,
      remaining: 4,
      retryAfterMs: undefined,
      refillAfterMs: 12_000,
      resetAfterMs: 12_000,
      origin,
      wouldDeny: false,
      decidedAtMs: clock.nowMs(),
      each: undefined,
    });
    expect(await limiter.consume({ search: 'a' }, { cost: 2 })).toMatchObject({ remaining: 0 });
    expect(await limiter.consume({ search: 'a' })).toMatchObject({
      allowed: false,
      policy: 'search',
      retryAfterMs: 500,
    });
    expect(await limiter.peek({ tenant: 'a' })).toMatchObject({ remaining: 4 });
    expect(await limiter.refund({ tenant: 'a' })).toMatchObject({ remaining: 5 });
    await limiter.reset({ search: 'a' });
    expect(await limiter.peek({ search: 'a' })).toMatchObject({ remaining: 2 });
  });

  it.each([
    [1.5, 'RangeError'],
    [-1, 'RangeError'],
    [Number.NaN, 'RangeError'],
    [Infinity, 'RangeError'],
    ['3', 'TypeError'],
    [null, 'TypeError'],
  ])('A-11 cost %s is refused before the store, and nothing is consumed', async (cost, kind) => {
    const { limiter } = await open(world);
    const options = { cost: cost as number };
    const rejected = await limiter.consume({ tenant: 'a' }, options).catch((e: unknown) => e);
    expect(rejected).toMatchObject({ name: kind, field: 'cost' });
    expect(String(rejected)).toMatch(/cost must be an integer of at least 0, got /);
    expect(() => limiter.tryConsume({ tenant: 'a' }, options)).toThrow(/^cost must be/);
    await expect(limiter.refund({ tenant: 'a' }, options)).rejects.toThrow(/^cost must be/);
    expect(await limiter.peek({ tenant: 'a' })).toMatchObject({ remaining: 5 });
  });

  it('C-01 limit 0 always denies, without a number that is none', async () => {
    const { store } = await open(world);
    const limiter = createLimiter({
      policies: { off: { limit: 0, window: '1m' } },
      store,
      fallback: PATIENT,
    });
    for (let i = 0; i < 3; i++) {
      expect(await limiter.consume({ off: 'k' })).toMatchObject({
        allowed: false,
        remaining: 0,
        retryAfterMs: undefined,
        resetAfterMs: 0,
      });
    }
  });
});

describe('tryConsume', () => {
  it('decides at once in memory, and charges', async () => {
    const { limiter } = await open();
    expect(limiter.tryConsume({ search: 'k' })?.remaining).toBe(1);
    expect(limiter.tryConsume({ search: 'k' })?.remaining).toBe(0);
    expect(limiter.tryConsume({ search: 'k' })?.allowed).toBe(false);
  });

  it('leaves it to consume where only Redis can tell, and charges nothing', async () => {
    const shared = await openShared();
    const limiter = createLimiter({ policies, store: shared.store, fallback: PATIENT });
    closing.push(shared.close, () => limiter.close());
    expect(limiter.tryConsume({ search: 'k' })).toBeUndefined();
    expect(await limiter.peek({ search: 'k' })).toMatchObject({ remaining: 2 });
  });
});

describe('keys that cannot be used are refused, and nothing is consumed', () => {
  it.each<[unknown, string]>([
    [undefined, 'keys must be an object { policyName: partitionKey }, got undefined'],
    ['t42', 'keys must be an object { policyName: partitionKey }, got "t42"'],
    [{}, 'keys must be a policy and its key, or several, got "{}"'],
    [{ tenent: 'a' }, 'keys names the policy "tenent"; the limiter has "tenant", "search"'],
    [{ tenant: '' }, 'keys.tenant must be a text that is not empty, got ""'],
    [{ tenant: undefined }, 'keys.tenant must be a text that is not empty, got undefined'],
    [{ tenant: null }, 'keys.tenant must be a text that is not empty, got null'],
    [{ tenant: 42 }, 'keys.tenant must be a text that is not empty, got 42'],
    [{ tenant: {} }, 'keys.tenant must be a text that is not empty, got an object'],
    [{ tenant: 'a', search: '' }, 'keys.search must be a text that is not empty, got ""'],
    [['a'], 'keys names the policy "0"; the limiter has "tenant", "search"'],
  ])('%j', async (keys, message) => {
    const { limiter, store } = await open();
    const bad = keys as Keys<'tenant'>;
    expect(() => limiter.tryConsume(bad)).toThrow(message);
    for (const call of callsOf(limiter)) {
      await expect(call(bad)).rejects.toThrow(message);
    }
    expect((store as ReturnType<typeof memoryStore>).size).toBe(0);
  });
});

describe('options that cannot be used are refused', () => {
  it.each<[unknown, string]>([
    [undefined, 'options must be an object with policies, got undefined'],
    [{}, 'policies must be an object { name: { limit, window } }, got undefined'],
    [{ policies: [] }, 'policies must be an object { name: { limit, window } }, got an array'],
    [{ policies: {} }, 'policies must be at least one policy, got "{}"'],
    [{ policies: { a: { limit: -1, window: '1s' } } }, 'policies.a.limit must be an integer of'],
    [{ policies, limit: 5 }, 'limit is not an option; the options are policies, store'],
    [{ policies, store: 'memroy' }, 'store must be a store such as memoryStore() or redisStore'],
    [{ policies, store: {} }, 'store must be a store such as memoryStore() or redisStore(client)'],
  ])('%j', (options, message) => {
    expect(() => createLimiter(options as LimiterOptions)).toThrow(message);
  });
});

describe('one policy name, one meaning on a store', () => {
  const other = { tenant: { limit: 50, window: '60s' } };

  it('C-05 other values under a name in use are refused, with both values', async () => {
    const { store } = await open();
    expect(() => createLimiter({ policies: other, store })).toThrow(
      'policy "tenant" is in use on this store with other values ' +
        '(5 per 1m, burst 5; now 50 per 1m, burst 50); give one of them another name',
    );
  });

  it('the same values share the bucket, as replicas do', async () => {
    const { limiter, store } = await open();
    const second = createLimiter({ policies, store });
    expect((await limiter.consume({ tenant: 'a' })).remaining).toBe(4);
    expect((await second.consume({ tenant: 'a' })).remaining).toBe(3);
  });

  it('a name is free again when its limiters are closed', async () => {
    const { limiter, store } = await open();
    const second = createLimiter({ policies, store });
    await limiter.close();
    expect(() => createLimiter({ policies: other, store })).toThrow('in use on this store');
    await second.close();
    await second.close();
    expect(createLimiter({ policies: other, store }).policies.get('tenant')?.limit).toBe(50);
  });

  it('a refused limiter leaves no name behind', async () => {
    const store = memoryStore();
    closing.push(() => store.close());
    const first = createLimiter({ policies: { b: { limit: 1, window: '1s' } }, store });
    const both = { a: { limit: 1, window: '1s' }, b: { limit: 2, window: '1s' } };
    expect(() => createLimiter({ policies: both, store })).toThrow('policy "b"');
    await first.close();
    const free = { a: { limit: 9, window: '1s' }, b: { limit: 9, window: '1s' } };
    expect(createLimiter({ policies: free, store }).policies.size).toBe(2);
  });
});

describe('close', () => {
  it('refuses later calls, and ends the store it made, but not one that was passed in', async () => {
    const { limiter, store } = await open();
    await limiter.close();
    await limiter.close();
    expect(() => limiter.tryConsume({ tenant: 'a' })).toThrow('the limiter is closed');
    for (const call of callsOf(limiter)) {
      await expect(call({ tenant: 'a' })).rejects.toMatchObject({
        code: 'RL_CLOSED',
      });
    }
    expect(createLimiter({ policies, store }).tryConsume({ tenant: 'a' })?.remaining).toBe(4);
  });

  it('answers what was asked before', async () => {
    const shared = await openShared();
    const limiter = createLimiter({ policies, store: shared.store as Store, fallback: PATIENT });
    const asked = limiter.consume({ tenant: 'a' });
    await limiter.close();
    expect(await asked).toMatchObject({ allowed: true, remaining: 4 });
    await shared.close();
  });
});

it('values of a call that cannot be used are refused each time, whatever came before', async () => {
  const { limiter } = await open();
  const ask = (change: object) =>
    limiter.tryConsume({ tenant: 'k' }, { policies: { tenant: change } });
  expect(ask({ limit: undefined })?.limit).toBe(5);
  for (const limit of [Number.NaN, Number.POSITIVE_INFINITY, null, '5']) {
    expect(() => ask({ limit })).toThrow('policies.tenant.limit must be an integer of at least 0');
  }
  const lease = { ttl: '2s', pace: 10 };
  expect(ask({ lease })).toBeDefined();
  expect(() => ask({ lease: { ttl: Number.NaN, pace: 10 } })).toThrow('policies.tenant.lease.ttl');
});

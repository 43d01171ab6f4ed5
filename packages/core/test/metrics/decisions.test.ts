import { afterEach, describe, expect, it, vi } from 'vitest';
import { createLimiter, type LimiterOptions } from '../../src/limiter/limiter.js';
import type { PolicyOptions } from '../../src/policy/policy.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { openWarm, SMALL, spend } from '../support/answered-replica.js';
import { fits } from '../support/answered-store.js';
import { counted, outcomes } from '../support/counted.js';
import { PATIENT } from '../support/patient.js';
import { closeAll, lose, openSilent } from '../support/silent-replica.js';
import { type OpenStore, WORLDS } from '../support/worlds.js';

const TEN = { limit: 10, window: '60s' };

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const close of closing.splice(0).reverse()) await close();
  await closeAll();
});

async function openIn(
  world: { open(clock: ManualClock): Promise<OpenStore> },
  policies: Record<string, PolicyOptions>,
  metrics?: LimiterOptions['metrics'],
) {
  const clock = new ManualClock();
  const { store, close } = await world.open(clock);
  const limiter = createLimiter({ policies, store, clock, metrics, fallback: PATIENT });
  closing.push(close, () => limiter.close());
  return { limiter, clock };
}

/** A limiter whose store is lost, so that it decides by itself. */
async function openLost(policies: Record<string, PolicyOptions>) {
  const replica = openSilent(policies);
  await lose(replica, Object.keys(policies)[0]);
  return replica;
}

describe.each(WORLDS)('X-03 what was decided is counted, whoever decided it, on $name', (world) => {
  it('a hundred calls of which ten fit: ten allowed, ninety denied', async () => {
    const { limiter } = await openIn(world, { p: TEN });
    for (let i = 0; i < 100; i++) await limiter.consume({ p: 'k' });
    const remembered = { 'allowed store': 10, 'denied store': 1, 'denied memory': 89 };
    const own = { 'allowed memory': 10, 'denied memory': 90 };
    expect(counted(limiter)).toEqual(world.name === 'memory' ? own : remembered);
  });

  it('a call that one of two policies denies counts for that one alone', async () => {
    const { limiter } = await openIn(world, { a: TEN, b: { ...TEN, limit: 1 } });
    await limiter.consume({ a: 'k', b: 'k' });
    const before = counted(limiter, 'a');
    for (const denied of [1, 2, 3]) {
      expect((await limiter.consume({ a: 'k', b: 'k' })).allowed).toBe(false);
      expect(outcomes(limiter, 'b')).toEqual({ allowed: 1, denied });
      expect(counted(limiter, 'a')).toEqual(before);
    }
  });

  it('a policy that only watches: what it would have denied, also of calls that others deny', async () => {
    const { limiter } = await openIn(world, {
      watch: { ...TEN, limit: 2, shadow: true },
      deny: { ...TEN, limit: 3 },
    });
    for (let i = 0; i < 4; i++) await limiter.consume({ watch: 'k', deny: 'k' });
    expect(outcomes(limiter, 'watch')).toEqual({ allowed: 2, shadow_denied: 2 });
    expect(outcomes(limiter, 'deny')).toEqual({ allowed: 3, denied: 1 });
  });

  it('nothing that is no call: looks, what is put back or settled, and explanations', async () => {
    const { limiter } = await openIn(world, { p: TEN, q: TEN });
    await limiter.peek({ p: 'k' });
    await limiter.peek({ p: 'k', q: 'k' });
    await limiter.consume({ p: 'k' }, { cost: 0 });
    limiter.tryConsume({ p: 'k' }, { cost: 0 });
    await limiter.refund({ p: 'k' });
    await limiter.settle({ p: 'k', q: 'k' }, { estimate: 1, cost: 20 });
    await limiter.settle({ p: 'k' }, { estimate: 3, cost: 1 });
    await limiter.explain({ p: 'k', q: 'k' }, { cost: 11 });
    await limiter.reset({ p: 'k' });
    expect([counted(limiter, 'p'), counted(limiter, 'q')]).toEqual([{}, {}]);
    for (const { busiest, denied } of limiter.top()) expect([busiest, denied]).toEqual([[], []]);
  });

  it('once, where a call is first tried and then waits', async () => {
    const { limiter } = await openIn(world, { p: TEN, q: TEN });
    for (const keys of [{ p: 'k' }, { p: 'k', q: 'k' }]) {
      const decision = limiter.tryConsume(keys) ?? (await limiter.consume(keys));
      expect(decision.allowed).toBe(true);
    }
    expect([outcomes(limiter, 'p'), outcomes(limiter, 'q')]).toEqual([
      { allowed: 2 },
      { allowed: 1 },
    ]);
  });

  it('under the key class of the call', async () => {
    const { limiter } = await openIn(world, { p: { ...TEN, keyClass: 'free' } });
    await limiter.consume({ p: 'k' });
    await limiter.consume({ p: 'k' }, { policies: { p: { limit: 99, keyClass: 'gold' } } });
    await limiter.consume({ p: 'k' });
    const classes = ['free', 'gold', 'default'].map((one) => counted(limiter, 'p', one));
    const origin = world.name === 'memory' ? 'memory' : 'store';
    expect(classes).toEqual([{ [`allowed ${origin}`]: 2 }, { [`allowed ${origin}`]: 1 }, {}]);
  });

  it('by key: who asks most and who is denied most', async () => {
    const { limiter, clock } = await openIn(world, { p: { ...TEN, limit: 2 }, q: TEN });
    for (const key of ['a', 'b', 'b', 'b', 'b', 'c', 'c', 'c']) await limiter.consume({ p: key });
    clock.advance(70);
    const [p, q] = limiter.top({ count: 2 });
    expect(p).toEqual({
      policy: 'p',
      denied: [
        { key: 'b', count: 2, error: 0 },
        { key: 'c', count: 1, error: 0 },
      ],
      busiest: [
        { key: 'b', count: 4, error: 0 },
        { key: 'c', count: 3, error: 0 },
      ],
      coversMs: 70,
    });
    expect(q).toMatchObject({ policy: 'q', denied: [], busiest: [] });
  });

  it('not at all with metrics: false, and without keys where none are to be kept', async () => {
    const off = await openIn(world, { p: { ...TEN, limit: 1 } }, false);
    const keyless = await openIn(world, { p: { ...TEN, limit: 1 } }, { topKeys: 0 });
    for (const { limiter } of [off, keyless]) {
      for (let i = 0; i < 3; i++) await limiter.consume({ p: 'k' });
      expect(limiter.top()).toEqual([]);
      const { each } = await limiter.explain({ p: 'k' });
      expect(each[0]?.denials).toEqual({ count: 0, last: [] });
    }
    expect(off.limiter.metrics().decisions).toEqual([]);
    expect(outcomes(keyless.limiter)).toEqual({ allowed: 1, denied: 2 });
  });
});

describe('X-03 what is decided without the store is counted, too', () => {
  it('once it is lost: at once, by the policy that denied', async () => {
    const { limiter } = await openLost({ a: TEN, b: { ...TEN, limit: 2 } });
    for (let i = 0; i < 12; i++) await limiter.consume({ a: 'alone' });
    expect(counted(limiter, 'a')).toEqual({
      'fallback_allowed fallback': 10,
      'fallback_denied fallback': 2,
    });
    for (let i = 0; i < 5; i++) await limiter.consume({ a: 'k', b: 'k' });
    expect(counted(limiter, 'a')).toMatchObject({ 'fallback_allowed fallback': 12 });
    expect(counted(limiter, 'b')).toEqual({
      'fallback_allowed fallback': 2,
      'fallback_denied fallback': 3,
    });
  });

  it('under a policy that only watches', async () => {
    const watch = { ...TEN, limit: 2, shadow: true };
    const { limiter } = await openLost({ watch, deny: { ...TEN, limit: 3 } });
    for (let i = 0; i < 4; i++) await limiter.consume({ watch: 'k', deny: 'k' });
    expect(outcomes(limiter, 'watch')).toEqual({ fallback_allowed: 2, shadow_denied: 2 });
    expect(outcomes(limiter, 'deny')).toEqual({ fallback_allowed: 3, fallback_denied: 1 });
  });

  it('once, where the answer comes after the fallback has decided', async () => {
    const { limiter, store, time } = openSilent({ p: TEN, q: TEN });
    expect(limiter.tryConsume({ p: 'k' })).toBeUndefined();
    expect(counted(limiter)).toEqual({});
    const calls = [limiter.consume({ p: 'k' }), limiter.consume({ p: 'k', q: 'k' })];
    const [one, several] = [await store.checkedAny(), await store.checkedAllAny()];
    expect(counted(limiter)).toEqual({});
    await time.pass(5);
    await Promise.all(calls);
    const once = { 'fallback_allowed fallback': 2 };
    expect(counted(limiter)).toEqual(once);
    await one.answer(fits(one.asked.policy));
    await several.answer(several.asked.map(({ policy }) => fits(policy)));
    expect(counted(limiter)).toEqual(once);
    expect(counted(limiter, 'q')).toEqual({ 'fallback_allowed fallback': 1 });
  });

  it('not where a call rejects', async () => {
    const { limiter, store } = openSilent({ p: TEN });
    const call = limiter.consume({ p: 'k' });
    const rejected = expect(call).rejects.toThrow('odd');
    await (await store.checked()).fail(new TypeError('odd'));
    await rejected;
    expect(counted(limiter)).toEqual({});
  });
});

it('a call that a lease decides is counted as such', async () => {
  const replica = await openWarm({ p: SMALL });
  spend(replica, 5);
  expect(counted(replica.limiter)).toEqual({ 'allowed store': 10, 'allowed lease': 5 });
});

it('of calls that come too fast to note each, those that are noted stand for the others', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const limiter = createLimiter({ policies: { p: { ...TEN, limit: 4000 } }, store, clock });
  for (let i = 0; i < 20_000; i++) limiter.tryConsume({ p: 'k' });
  expect(outcomes(limiter)).toEqual({ allowed: 4000, denied: 16_000 });
  const [top] = limiter.top();
  expect(Math.abs((top?.busiest[0]?.count ?? 0) - 20_000)).toBeLessThan(1100);
  expect(Math.abs((top?.denied[0]?.count ?? 0) - 16_000)).toBeLessThan(1100);
  await limiter.close();
  await store.close();
});

it('what was counted is there after a close', async () => {
  const limiter = createLimiter({ policies: { p: TEN } });
  await limiter.consume({ p: 'k' });
  await limiter.close();
  expect(counted(limiter)).toEqual({ 'allowed memory': 1 });
  expect(limiter.top()[0]?.busiest).toEqual([{ key: 'k', count: 1, error: 0 }]);
});

describe('what cannot be used is refused, by name and with its value', () => {
  it.each([
    ['on', /metrics .*"on"/],
    [null, /metrics .*null/],
    [{ topkeys: 3 }, /metrics\.topkeys/],
    [{ topKeys: -1 }, /metrics\.topKeys .*-1/],
    [{ topKeys: 1001 }, /metrics\.topKeys .*1001/],
    [{ topKeys: 1.5 }, /metrics\.topKeys .*1\.5/],
    [{ topKeys: '5' }, /metrics\.topKeys .*"5"/],
  ])('metrics: %j', (metrics, message) => {
    expect(() => createLimiter({ policies: { p: TEN }, metrics: metrics as never })).toThrow(
      message,
    );
  });

  it.each([
    [5, /options .*5/],
    [null, /options .*null/],
    [{ limit: 3 }, /limit/],
    [{ count: 0 }, /count .*0/],
    [{ count: 1001 }, /count .*1001/],
    [{ count: '3' }, /count .*"3"/],
  ])('top(%j)', (options, message) => {
    const limiter = createLimiter({ policies: { p: TEN } });
    expect(() => limiter.top(options as never)).toThrow(message);
  });

  it('but not what is at the edge', () => {
    for (const metrics of [true, {}, { topKeys: 0 }, { topKeys: 1000 }, { topKeys: undefined }]) {
      const limiter = createLimiter({ policies: { p: TEN }, metrics });
      expect([limiter.top({ count: 1 }), limiter.top({ count: 1000 })]).toHaveLength(2);
    }
  });

  it('tells of ten keys, and keeps fifty, unless told otherwise', async () => {
    const limiter = createLimiter({ policies: { p: TEN } });
    for (let i = 0; i < 60; i++) limiter.tryConsume({ p: `k${i}` });
    expect(limiter.top()[0]?.busiest).toHaveLength(10);
    expect(limiter.top({ count: 99 })[0]?.busiest).toHaveLength(50);
    await limiter.close();
  });
});

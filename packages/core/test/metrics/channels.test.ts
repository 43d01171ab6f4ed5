import { channel, subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createLimiter } from '../../src/limiter/limiter.js';
import { CHECK } from '../../src/metrics/channels.js';
import { open } from '../support/answered-replica.js';
import { doesNotFit, fits } from '../support/answered-store.js';
import { closeAll, openSilent, refused } from '../support/silent-replica.js';

const TEN = { limit: 10, window: '60s' };

const undo: (() => void)[] = [];
afterEach(async () => {
  for (const one of undo.splice(0)) one();
  vi.restoreAllMocks();
  await closeAll();
});

/** What is published on a channel from now on. */
function listen(name: string): unknown[] {
  const messages: unknown[] = [];
  const listener = (message: unknown) => messages.push(message);
  subscribe(name, listener);
  undo.push(() => unsubscribe(name, listener));
  return messages;
}

describe('@rl/core:decision', () => {
  it('has a message of each decision under each policy, and of no look', async () => {
    const messages = listen('@rl/core:decision');
    const limiter = createLimiter({
      policies: { p: { ...TEN, limit: 2, keyClass: 'free' }, q: TEN },
    });
    const each: unknown[] = [];
    const allowed = await limiter.consume({ p: 'a' }, { cost: 2 });
    const denied = limiter.tryConsume({ p: 'a' });
    await limiter.peek({ p: 'a' });
    const both = await limiter.consume({ p: 'b', q: 'c' });
    each.push(...(both.each ?? []));
    expect(messages).toEqual([
      { limiter, key: 'a', cost: 2, keyClass: 'free', decision: allowed },
      { limiter, key: 'a', cost: 1, keyClass: 'free', decision: denied },
      { limiter, key: 'b', cost: 1, keyClass: 'free', decision: each[0] },
      { limiter, key: 'c', cost: 1, keyClass: 'default', decision: each[1] },
    ]);
  });

  it('has none made while nobody listens, nor where nothing is noted', async () => {
    const limiter = createLimiter({ policies: { p: TEN } });
    const published = vi.spyOn(channel('@rl/core:decision'), 'publish');
    await limiter.consume({ p: 'k' });
    expect(published).not.toHaveBeenCalled();
    published.mockRestore();
    const messages = listen('@rl/core:decision');
    await createLimiter({ policies: { p: TEN }, metrics: false }).consume({ p: 'k' });
    expect(messages).toEqual([]);
  });
});

describe('@rl/core:store', () => {
  it('has a message of each question that was answered, failed or given up, once', async () => {
    const messages = listen('@rl/core:store');
    const { limiter, store, time } = openSilent({ p: TEN });
    const calls = ['a', 'b', 'c'].map((p) => limiter.consume({ p }));
    const [one, other, late] = [
      await store.checkedAny(),
      await store.checkedAny(),
      await store.checkedAny(),
    ];
    await one.answer(fits(one.asked.policy));
    await other.fail(refused());
    await time.pass(5);
    await Promise.all(calls);
    await late.answer(fits(late.asked.policy));
    const durationS = expect.any(Number);
    expect(messages).toEqual([
      { limiter, durationS, fault: undefined },
      { limiter, durationS, fault: 'connection' },
      { limiter, durationS, fault: 'timeout' },
    ]);
    for (const { durationS: s } of messages as { durationS: number }[]) {
      expect(s).toBeGreaterThan(0);
      expect(s).toBeLessThan(10);
    }
    const { storeLatency, storeErrors } = limiter.metrics();
    expect(storeLatency.count).toBe(3);
    expect(storeLatency.sum).toBeCloseTo(
      (messages as { durationS: number }[]).reduce((sum, m) => sum + m.durationS, 0),
    );
    expect(storeErrors).toMatchObject({ connection: 1, timeout: 1, other: 0 });
  });

  it('has none made while nobody listens', async () => {
    const published = vi.spyOn(channel('@rl/core:store'), 'publish');
    const { limiter, store } = openSilent({ p: TEN });
    const call = limiter.consume({ p: 'k' });
    const check = await store.checked();
    await check.answer(fits(check.asked.policy));
    await call;
    expect(published).not.toHaveBeenCalled();
    expect(limiter.metrics().storeLatency.count).toBe(1);
  });

  it('is silent about a store that answers at once, and latencies have no count of it', async () => {
    const messages = listen('@rl/core:store');
    const limiter = createLimiter({ policies: { p: TEN } });
    await limiter.consume({ p: 'k' });
    expect(messages).toEqual([]);
    expect(limiter.metrics().storeLatency.count).toBe(0);
  });
});

describe('@rl/core:check', () => {
  const EVENTS = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;

  function trace() {
    const events: [string, Record<string, unknown>][] = [];
    const told = (name: string) => (context: object) => events.push([name, { ...context }]);
    const listeners = Object.fromEntries(EVENTS.map((name) => [name, told(name)])) as never;
    const check = tracingChannel('@rl/core:check');
    check.subscribe(listeners);
    undo.push(() => void check.unsubscribe(listeners));
    return events;
  }

  it('goes around a check that waits for the store, and ends with its decision', async () => {
    const events = trace();
    const { limiter, store } = open({ p: TEN, q: TEN });
    const call = limiter.consume({ p: 'k' });
    expect(events).toEqual([
      ['start', { limiter, policies: ['p'] }],
      ['end', { limiter, policies: ['p'] }],
    ]);
    const check = await store.checked();
    await check.answer(doesNotFit(check.asked.policy, 70));
    const context = { limiter, policies: ['p'], result: await call };
    expect(events.slice(2)).toEqual([
      ['asyncStart', context],
      ['asyncEnd', context],
    ]);
    events.length = 0;
    const several = limiter.consume({ p: 'other', q: 'other' });
    const all = await store.checkedAll();
    await all.answer(all.asked.map(({ policy }) => fits(policy)));
    const result = await several;
    expect(result.each).toHaveLength(2);
    expect(events.at(-1)).toEqual(['asyncEnd', { limiter, policies: ['p', 'q'], result }]);
  });

  it('tells what a call rejected with', async () => {
    const events = trace();
    const { limiter, store } = open({ p: TEN });
    const error = new TypeError('odd');
    const rejected = expect(limiter.consume({ p: 'k' })).rejects.toBe(error);
    await (await store.checked()).fail(error);
    await rejected;
    expect(events.find(([name]) => name === 'error')?.[1]).toMatchObject({ error });
  });

  it('is not gone through by what is decided at once', async () => {
    const events = trace();
    await createLimiter({ policies: { p: TEN } }).consume({ p: 'k' });
    expect(events).toEqual([]);
  });

  it.each(EVENTS)('is traced where somebody listens to its %s alone', (name) => {
    expect(CHECK.hasSubscribers).toBe(false);
    listen(`tracing:@rl/core:check:${name}`);
    expect(CHECK.hasSubscribers).toBe(true);
  });
});

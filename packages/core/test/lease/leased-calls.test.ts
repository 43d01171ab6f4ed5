import { describe, expect, it, vi } from 'vitest';
import { createLimiter } from '../../src/limiter/limiter.js';
import type { PolicyOptions } from '../../src/policy/policy.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import type { Charge, Claim, Grant } from '../../src/store/store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { AnsweredStore, doesNotFit, fits, grantOf } from '../support/answered-store.js';
import { everyTurn } from '../support/virtual-time.js';
import { AsyncDelegate } from '../testing/delegate.js';

/** At most 5 permits are leased, for a second; a permit comes back each 100 ms. */
const SMALL = { limit: 10, window: '1s', lease: true } as const;

function open(policies: Record<string, PolicyOptions>) {
  const store = new AnsweredStore();
  const clock = new ManualClock();
  return { store, clock, limiter: createLimiter({ policies, store, clock }) };
}

/** A replica that has leased 5 permits of `SMALL` for the key 'k'. */
async function openWarm(policies: Record<string, PolicyOptions> = { p: SMALL }) {
  const replica = open(policies);
  void replica.limiter.consume({ p: 'k' }, { cost: 10 });
  const claim = await replica.store.claimed();
  await claim.answer(grantOf(claim.asked));
  return replica;
}

/** A store that is near, and notes what was claimed. */
class Noting extends AsyncDelegate {
  readonly claims: Claim[] = [];
  /** Until then claims are on their way. */
  delayed: Promise<void> | undefined;

  override async claim(claim: Claim): Promise<Grant | undefined> {
    this.claims.push(claim);
    await this.delayed;
    return super.claim(claim);
  }
}

function openNear(policies: Record<string, PolicyOptions>) {
  const clock = new ManualClock();
  const store = new Noting(memoryStore({ clock }));
  return { store, clock, limiter: createLimiter({ policies, store, clock }) };
}

describe('what is wanted in advance', () => {
  it.each([
    { perMs: 1, least: 18, most: 20 },
    { perMs: 2, least: 36, most: 40 },
    { perMs: 4, least: 50, most: 50 },
  ])('lasts 20 ms at $perMs calls a millisecond, within the share of 50', async (row) => {
    const policy = { limit: 10_000, window: '1s', burst: 100, lease: { horizon: 20 } };
    const { limiter, store, clock } = openNear({ p: policy });
    for (let ms = 0; ms < 2000; ms++) {
      for (let i = 0; i < row.perMs; i++) void limiter.consume({ p: 'k' });
      await everyTurn();
      clock.advance(1);
    }
    const most = Math.max(...store.claims.slice(-20).map(({ extra }) => extra));
    expect(most).toBeGreaterThanOrEqual(row.least);
    expect(most).toBeLessThanOrEqual(row.most);
  });
});

it('calls that the answer did not cover are asked for together', async () => {
  const { limiter, store } = open({ p: SMALL });
  void limiter.consume({ p: 'k' }, { cost: 10 });
  const claim = await store.claimed();
  const [served] = [1, 3, 1].map((cost) => limiter.consume({ p: 'k' }, { cost }));
  await claim.answer(grantOf(claim.asked, { permits: 1 }));
  expect(await served).toMatchObject({ allowed: true, origin: 'lease' });
  expect((await store.claimed()).asked.costs).toEqual([3, 1]);
});

it('a call that fails where nothing is leased fails alone', async () => {
  const { limiter, store } = open({ p: SMALL });
  const lost = limiter.consume({ p: 'k' });
  const rejected = expect(lost).rejects.toThrow('cut off');
  await (await store.checked()).fail(new Error('cut off'));
  await rejected;
  const next = limiter.consume({ p: 'k' });
  const check = await store.checked();
  await check.answer(fits(check.asked.policy));
  expect((await next).allowed).toBe(true);
});

it('a tier without a lease asks the store, and leaves alone what is held', async () => {
  const { limiter, store } = await openWarm();
  void limiter.consume({ p: 'k' }, { policies: { p: { lease: false } } });
  expect((await store.checked()).asked.policy.lease).toBeUndefined();
  expect(limiter.tryConsume({ p: 'k' }, { cost: 5 })?.origin).toBe('lease');
});

describe('permits that are not spent', () => {
  it('are returned after their time, also of a bucket that nobody asks for', async () => {
    const { limiter, store, clock } = openNear({ p: SMALL });
    await limiter.consume({ p: 'k' }, { cost: 5 });
    clock.advance(1000);
    await limiter.consume({ p: 'other' });
    await everyTurn();
    const held = store.claims[0]?.extra;
    const last = store.claims.at(-1);
    expect(last).toMatchObject({ key: 'k', costs: [], extra: 0, reports: [{ returned: held }] });
  });

  it('are returned on close, which waits a second for a store that does not answer', async () => {
    const { limiter, store } = await openWarm();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      let closed = false;
      const close = limiter.close().then(() => {
        closed = true;
      });
      expect((await store.claimed()).asked).toMatchObject({
        costs: [],
        reports: [{ returned: 5 }],
      });
      await vi.advanceTimersByTimeAsync(999);
      expect(closed).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      await close;
    } finally {
      vi.useRealTimers();
    }
  });
});

it('a refund of what was spent near a window’s end does not reach into the next one', async () => {
  const policy = { ...SMALL, algorithm: 'fixed-window' } as const;
  const { limiter, store, clock } = openNear({ p: policy });
  await limiter.consume({ p: 'k' }, { cost: 4 });
  await everyTurn();
  clock.advance(500);
  expect(limiter.tryConsume({ p: 'k' }, { cost: 2 })?.origin).toBe('lease');
  // A claim that is slow on its way there: the store seems to be 60 ms ahead of this replica.
  let arrive = () => {};
  store.delayed = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const slow = limiter.consume({ p: 'k' }, { cost: 5 });
  await everyTurn();
  clock.advance(60);
  arrive();
  expect((await slow).allowed).toBe(false);
  clock.advance(385);
  const decision = limiter.tryConsume({ p: 'k' });
  expect(decision?.origin).toBe('lease');
  clock.advance(56);
  const other = createLimiter({ policies: { p: policy }, store: store.inner, clock });
  expect((await other.consume({ p: 'k' }, { cost: 10 })).allowed).toBe(true);
  await limiter.refund({ p: 'k' }, { decision });
  expect((await other.peek({ p: 'k' })).remaining).toBe(0);
});

describe('a call under a leased policy and a shadow policy', () => {
  const policies = { p: SMALL, q: { limit: 10, window: '1s', shadow: true } };
  const keys = { p: 'k', q: 'k' };

  it('spends of the lease where the shadow policy would have denied', async () => {
    const { limiter, store } = await openWarm(policies);
    const call = limiter.consume(keys);
    const check = await store.checkedAll();
    expect(check.asked.map(({ policy }) => policy.name)).toEqual(['q']);
    await check.answer([doesNotFit((check.asked[0] as Charge).policy, 500)]);
    expect(await call).toMatchObject({ allowed: true, policy: 'p', origin: 'lease' });
    expect((await call).each).toMatchObject([{ wouldDeny: false }, { wouldDeny: true }]);
    expect(limiter.tryConsume({ p: 'k' }, { cost: 5 })).toBeUndefined();
    expect(limiter.tryConsume({ p: 'k' }, { cost: 4 })?.origin).toBe('lease');
  });
});

describe('a call with values of its own', () => {
  /** Demand of a call a millisecond, for long enough to lease. */
  async function warm(policies: Record<string, PolicyOptions>) {
    const replica = openNear(policies);
    for (let ms = 0; ms < 500; ms++) {
      void replica.limiter.consume({ p: 'k' });
      await everyTurn();
      replica.clock.advance(1);
    }
    expect(replica.limiter.tryConsume({ p: 'k' })).toMatchObject({ origin: 'lease' });
    return replica;
  }
  const policy = { limit: 1000, window: '1s', lease: { horizon: 30 } };

  it('does not spend what was leased under other values', async () => {
    const { limiter } = await warm({ p: policy });
    const tier = { cost: 8, policies: { p: { limit: 10, burst: 5 } } };
    expect(limiter.tryConsume({ p: 'k' }, tier)).toBeUndefined();
    expect(await limiter.consume({ p: 'k' }, tier)).toMatchObject({
      allowed: false,
      retryAfterMs: undefined,
    });
  });

  it('of another algorithm counts in its own bucket', async () => {
    const { limiter } = await warm({ p: policy });
    const tier = { policies: { p: { algorithm: 'fixed-window', limit: 3 } as const } };
    const decisions = [];
    for (let i = 0; i < 5; i++) decisions.push(await limiter.consume({ p: 'k' }, tier));
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, false, false]);
    expect(limiter.tryConsume({ p: 'k' }, tier)).toMatchObject({ allowed: false });
  });

  it('gives back what was leased under the values before', async () => {
    const { limiter, store } = await warm({ p: policy });
    await limiter.consume({ p: 'k' }, { policies: { p: { limit: 2000 } } });
    const { reports } = store.claims.at(-1) as Claim;
    expect(reports.some(({ returned }) => returned > 0)).toBe(true);
  });
});

it('a denial under several policies goes on asking ahead, as one alone does', async () => {
  const tight = { limit: 1000, window: '1s', burst: 200, lease: true };
  const roomy = { limit: 100_000, window: '1s', lease: true };
  const { limiter, store, clock } = openNear({ p: tight, q: roomy });
  const consumeAll = vi.spyOn(store, 'consumeAll');
  for (let ms = 0; ms < 2000; ms++) {
    for (let i = 0; i < 4; i++) {
      const keys = { p: 'k', q: 'k' };
      if (limiter.tryConsume(keys) === undefined) void limiter.consume(keys);
    }
    await everyTurn();
    clock.advance(1);
  }
  expect(store.claims.length).toBeGreaterThan(20);
  expect(consumeAll.mock.calls.length).toBeLessThan(400);
});

it('a cost that can never fit does not keep others from asking ahead', async () => {
  const { limiter, store, clock } = openNear({ p: { limit: 1000, window: '1s', lease: true } });
  let waited = 0;
  for (let ms = 0; ms < 2000; ms++) {
    if (limiter.tryConsume({ p: 'k' }) === undefined) {
      waited++;
      void limiter.consume({ p: 'k' });
    }
    if (ms % 500 === 100) void limiter.consume({ p: 'k' }, { cost: 1001 });
    await everyTurn();
    clock.advance(1);
  }
  expect(store.claims.length).toBeGreaterThan(3);
  expect(waited).toBeLessThan(20);
});

import { describe, expect, it, vi } from 'vitest';
import type { Decision } from '../../src/decision/decision.js';
import { createLimiter } from '../../src/limiter/limiter.js';
import type { Policy, PolicyOptions } from '../../src/policy/policy.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import type { Charge, Claim, Grant } from '../../src/store/store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { BIG, open, openWarm, SMALL } from '../support/answered-replica.js';
import { doesNotFit, fits, grantOf, together } from '../support/answered-store.js';
import { PATIENT } from '../support/patient.js';
import { everyTurn } from '../support/virtual-time.js';
import { AsyncDelegate } from '../testing/delegate.js';

/** A store that is near, and notes what was claimed. */
class Noting extends AsyncDelegate {
  readonly claims: Claim[] = [];

  override async claim(claim: Claim): Promise<Grant | undefined> {
    this.claims.push(claim);
    return super.claim(claim);
  }
}

function openNear(policies: Record<string, PolicyOptions>) {
  const clock = new ManualClock();
  const store = new Noting(memoryStore({ clock }));
  return { store, clock, limiter: createLimiter({ policies, store, fallback: PATIENT, clock }) };
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
  together(limiter, 10);
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
    await Promise.all(together(limiter, 5));
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

  it('of another algorithm is refunded to its own bucket, and tells it nothing of another', async () => {
    const { limiter, store } = await warm({ p: policy });
    const tier = { policies: { p: { algorithm: 'fixed-window', limit: 3 } as const } };
    const decision = await limiter.consume({ p: 'k' }, { ...tier, cost: 2 });
    expect(decision).toMatchObject({ allowed: true, remaining: 1 });
    await limiter.refund({ p: 'k' }, { ...tier, cost: 2, decision });
    expect(await limiter.peek({ p: 'k' }, tier)).toMatchObject({ remaining: 3 });
    for (const claim of store.claims) {
      if (claim.policy.algorithm === 'fixed-window') expect(claim.reports).toEqual([]);
    }
  });

  it('is not refunded into a lease of other values', async () => {
    const { limiter, store } = await warm({ p: policy });
    const refund = vi.spyOn(store, 'refund');
    const tier = { policies: { p: { algorithm: 'fixed-window', limit: 3 } as const } };
    const before = store.claims.length;
    // Of this turn, so that it waits while the refund goes out.
    void limiter.consume({ p: 'k' }, tier);
    await limiter.refund({ p: 'k' }, tier);
    expect(refund).toHaveBeenCalledOnce();
    const telling = store.claims.slice(before).filter(({ reports }) => reports.length > 0);
    expect(telling.map(({ policy: { algorithm } }) => algorithm)).toEqual(['token-bucket']);
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

describe('permits that come back', () => {
  it.each(['token-bucket', 'fixed-window', 'sliding-window'] as const)(
    'to a leased %s come back whole',
    async (algorithm) => {
      const policy = { limit: 1000, window: '1h', algorithm, lease: true } as const;
      const { limiter, store, clock } = openNear({ p: policy });
      for (let i = 0; i < 100; i++) {
        const decision =
          limiter.tryConsume({ p: 'k' }, { cost: 4 }) ??
          (await limiter.consume({ p: 'k' }, { cost: 4 }));
        expect(decision.allowed).toBe(true);
        await limiter.settle({ p: 'k' }, { estimate: 4, cost: 1, decision });
        await everyTurn();
        clock.advance(3);
      }
      await limiter.close();
      const bucket = store.inner.tryConsume(limiter.policies.get('p') as Policy, 'k', 0);
      expect(bucket?.remaining).toBeGreaterThanOrEqual(900);
    },
  );

  it('go behind what the store was not told of yet', async () => {
    const { limiter, store } = await openWarm();
    const decisions = [1, 2, 3].map(() => limiter.tryConsume({ p: 'k' }) as Decision);
    const [decision] = decisions;
    // More than what is not told: the store has it all.
    void limiter.refund({ p: 'k' }, { cost: 4, decision });
    expect((await store.claimed()).asked.reports).toEqual([{ epoch: 1, spent: 3, returned: 0 }]);
    expect(store.refunds).toEqual([{ permits: 4, takenAtMs: decision?.decidedAtMs }]);
  });
});

describe('a great cost', () => {
  it('that is denied hoards nothing', async () => {
    const { limiter, store, clock } = openNear({ p: { limit: 100, window: '1h', lease: true } });
    expect((await limiter.consume({ p: 'k' }, { cost: 2 ** 53 - 1 })).allowed).toBe(false);
    expect((await limiter.consume({ p: 'k' }, { cost: 101 })).allowed).toBe(false);
    const other = createLimiter({
      policies: { p: { limit: 100, window: '1h', lease: true } },
      store: new AsyncDelegate(store.inner),
      fallback: PATIENT,
      clock,
    });
    expect((await other.peek({ p: 'k' })).remaining).toBe(100);
  });

  it.each([2, 30, 400])('of %d alone is not leased', async (cost) => {
    const { limiter, store, clock } = openNear({ p: BIG });
    await limiter.consume({ p: 'k' }, { cost });
    clock.advance(1);
    await everyTurn();
    expect(store.claims).toEqual([]);
  });

  it('finds what its own replica held', async () => {
    const { limiter, clock } = openNear({ p: { limit: 100, window: '1s', lease: true } });
    let admitted = 0;
    for (let i = 0; i < 600; i++) {
      if ((await limiter.consume({ p: 'k' }, { cost: 60 })).allowed) admitted += 60;
      await everyTurn();
      clock.advance(50);
    }
    // 100 at once and 100 a second, for 30 s.
    expect(admitted).toBeGreaterThanOrEqual(2940);
  });
});

it('what was put aside for longer than its lease is for the store to decide', async () => {
  const { limiter, store, clock } = openNear({ p: BIG, q: { limit: 1000, window: '1s' } });
  for (let ms = 0; ms < 500; ms++) {
    void limiter.consume({ p: 'k' });
    await everyTurn();
    clock.advance(1);
  }
  let open = () => {};
  const closed = new Promise<void>((resolve) => {
    open = resolve;
  });
  const consumeAll = vi.spyOn(store, 'consumeAll').mockImplementationOnce(async (charges) => {
    await closed;
    return store.inner.consumeAll(charges);
  });
  const late = limiter.consume({ p: 'k', q: 'k' });
  await everyTurn();
  clock.advance(5000);
  // By now the bucket is whole again, and somebody spends all of it.
  const policy = limiter.policies.get('p') as Policy;
  expect((await store.inner.consume(policy, 'k', 1000)).allowed).toBe(true);
  open();
  expect(await late).toMatchObject({ allowed: false, policy: 'p' });
  expect(consumeAll).toHaveBeenCalledTimes(2);
  expect(await limiter.peek({ q: 'k' })).toMatchObject({ remaining: 1000 });
});

it('a key too long to keep is for the store, and its denial is remembered', async () => {
  const { limiter, store } = openNear({ p: { limit: 1, window: '1h', lease: true } });
  const consume = vi.spyOn(store, 'consume');
  const keys = { p: 'x'.repeat(1_000_000) };
  for (let i = 0; i < 20; i++) await limiter.consume(keys);
  expect(consume).toHaveBeenCalledTimes(2);
  expect(store.claims).toEqual([]);
});

it('a refund under values without a lease forgets the denial under those with one', async () => {
  const { limiter } = openNear({ p: { limit: 1, window: '1h', lease: true } });
  const decision = await limiter.consume({ p: 'k' });
  expect((await limiter.consume({ p: 'k' })).allowed).toBe(false);
  await limiter.refund({ p: 'k' }, { decision, policies: { p: { lease: false } } });
  expect((await limiter.consume({ p: 'k' })).allowed).toBe(true);
});

it('to close twice is to wait for the same', async () => {
  const { limiter } = openNear({ p: SMALL });
  expect(limiter.close()).toBe(limiter.close());
  await limiter.close();
});

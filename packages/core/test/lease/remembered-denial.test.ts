import { describe, expect, it } from 'vitest';
import {
  NEVER_AHEAD,
  openDenied,
  openWarm,
  origins,
  SMALL,
  SMALL_POLICY,
  spend,
} from '../support/answered-replica.js';
import { fits } from '../support/answered-store.js';

describe('a denial is remembered', () => {
  it.each([
    { policy: 'leased', fitsAfterMs: 20, untilMs: 60, toldMs: 60 },
    { policy: 'leased', fitsAfterMs: 300, untilMs: 300, toldMs: 300 },
    { policy: 'leased', fitsAfterMs: 5000, untilMs: 1000, toldMs: 5000 },
    { policy: 'not leased', fitsAfterMs: 20, untilMs: 20, toldMs: 20 },
    { policy: 'not leased', fitsAfterMs: 5000, untilMs: 1000, toldMs: 5000 },
  ])('for $untilMs ms where a permit fits after $fitsAfterMs ms, $policy', async (row) => {
    const policy = row.policy === 'leased' ? NEVER_AHEAD : { limit: 10, window: '1s' };
    const { limiter, store, clock } = await openDenied(policy, row.fitsAfterMs);
    const again = () => limiter.tryConsume({ p: 'k' });
    expect(again()).toMatchObject({ allowed: false, origin: 'memory', retryAfterMs: row.toldMs });
    clock.advance(row.untilMs - 1);
    const waitMs = row.toldMs - row.untilMs + 1;
    expect(again()).toMatchObject({ allowed: false, origin: 'memory', retryAfterMs: waitMs });
    expect(await store.unseen()).toBe(0);
    clock.advance(1);
    expect(again()).toBeUndefined();
  });

  it('and asked about in the background a round trip before it ends', async () => {
    const replica = await openWarm({ p: SMALL }, { permits: 0, left: fits(SMALL_POLICY, 0) });
    replica.clock.advance(98);
    expect(origins(spend(replica, 20))).toEqual(Array(20).fill('memory'));
    expect(await replica.store.unseen()).toBe(0);
    replica.clock.advance(1);
    expect(origins(spend(replica, 1))).toEqual(['memory']);
    expect((await replica.store.claimed()).asked).toMatchObject({ costs: [], extra: 5 });
  });

  it('not for a smaller cost', async () => {
    const { limiter } = await openDenied(NEVER_AHEAD, 300, 5);
    expect(limiter.tryConsume({ p: 'k' }, { cost: 5 })).toMatchObject({ retryAfterMs: 300 });
    expect(limiter.tryConsume({ p: 'k' }, { cost: 4 })).toBeUndefined();
  });

  it('for a greater cost, which waits longer', async () => {
    const { limiter } = await openDenied(NEVER_AHEAD, 300, 5);
    expect(limiter.tryConsume({ p: 'k' }, { cost: 7 })).toMatchObject({ retryAfterMs: 500 });
    const never = limiter.tryConsume({ p: 'k' }, { cost: 11 });
    expect(never).toMatchObject({ allowed: false, retryAfterMs: undefined });
  });

  it('of a sliding window for the same cost alone', async () => {
    const { limiter } = await openDenied({ ...NEVER_AHEAD, algorithm: 'sliding-window' }, 300, 5);
    expect(limiter.tryConsume({ p: 'k' }, { cost: 5 })).toMatchObject({ retryAfterMs: 300 });
    expect(limiter.tryConsume({ p: 'k' }, { cost: 6 })).toBeUndefined();
  });

  it('under the values of the call that it was for', async () => {
    const { limiter } = await openDenied(NEVER_AHEAD, 300);
    const policies = { p: { limit: 20 } };
    expect(limiter.tryConsume({ p: 'k' }, { policies })).toBeUndefined();
  });

  it.each([
    { policy: 'leased', change: 'refund' },
    { policy: 'leased', change: 'settle' },
    { policy: 'leased', change: 'reset' },
    { policy: 'not leased', change: 'refund' },
    { policy: 'not leased', change: 'settle' },
    { policy: 'not leased', change: 'reset' },
  ])('until a $change by this replica, $policy', async ({ policy, change }) => {
    const options = policy === 'leased' ? NEVER_AHEAD : { limit: 10, window: '1s' };
    const { limiter } = await openDenied(options, 300);
    expect(limiter.tryConsume({ p: 'k' })?.origin).toBe('memory');
    if (change === 'refund') await limiter.refund({ p: 'k' });
    if (change === 'settle') await limiter.settle({ p: 'k' }, { estimate: 2, cost: 1 });
    if (change === 'reset') await limiter.reset({ p: 'k' });
    expect(limiter.tryConsume({ p: 'k' })).toBeUndefined();
  });

  it('of a shadow policy as one that would have been', async () => {
    const { limiter } = await openDenied({ ...NEVER_AHEAD, shadow: true }, 300);
    const again = limiter.tryConsume({ p: 'k' });
    expect(again).toMatchObject({ allowed: true, wouldDeny: true, origin: 'memory' });
  });
});

import { afterEach, describe, expect, it } from 'vitest';
import { RETURN_MS } from '../../src/fallback/breaker.js';
import { PROBE } from '../../src/fallback/probe.js';
import { SMALL } from '../support/answered-replica.js';
import { fits, grantOf, together } from '../support/answered-store.js';
import { findPlace, losePlace, openPlaced, told } from '../support/placed-replica.js';
import { closeAll, paid, refused } from '../support/silent-replica.js';
import { everyTurn } from '../support/virtual-time.js';

afterEach(closeAll);

const HOURLY = { limit: 10, window: '1h' };

describe('a place of a store', () => {
  it('is lost alone: keys elsewhere are decided by the store', async () => {
    const replica = openPlaced({ p: HOURLY });
    const { limiter, store } = replica;
    await losePlace(replica, 'A');
    expect(limiter.tryConsume({ p: 'A1' })).toMatchObject({ origin: 'fallback' });
    expect(limiter.tryConsume({ p: 'B1' })).toBeUndefined();
    const call = limiter.consume({ p: 'B1' });
    await (await store.checked()).answer(fits(PROBE, 7));
    expect(await call).toMatchObject({ origin: 'store', remaining: 7 });
    expect(limiter.health()).toMatchObject({ store: 'lost', places: { A: 'lost', B: 'up' } });
  });

  it('says of each event where it happened', async () => {
    const replica = openPlaced({ p: HOURLY });
    const { limiter, time, store } = replica;
    await losePlace(replica, 'A');
    limiter.tryConsume({ p: 'A1' });
    await findPlace(replica, 'A');
    await store.payments[0]?.succeed();
    await time.pass(RETURN_MS);
    expect(told(replica)).toEqual([
      ...Array(5).fill(['store-failed', 'A']),
      ['store-lost', 'A'],
      ['store-found', 'A'],
      ['store-back', 'A'],
      ['reconciled', 'A'],
    ]);
    expect(limiter.health()).toMatchObject({ store: 'up', places: { A: 'up' } });
  });

  it('does not share its failures with another', async () => {
    const replica = openPlaced({ p: HOURLY });
    for (let i = 0; i < 8; i++) {
      const call = replica.limiter.consume({ p: i % 2 ? 'A1' : 'B1' });
      await (await replica.store.checkedAny()).fail(refused());
      await call;
    }
    expect(replica.limiter.health().store).toBe('up');
  });

  it('is tried, found and returning by itself; the store stands as the worst of them', async () => {
    const replica = openPlaced({ p: HOURLY });
    const { limiter, time } = replica;
    await losePlace(replica, 'A');
    await losePlace(replica, 'B');
    await findPlace(replica, 'A');
    expect(limiter.health()).toMatchObject({
      store: 'lost',
      places: { A: 'returning', B: 'lost' },
    });
    await findPlace(replica, 'B');
    expect(limiter.health().store).toBe('returning');
    while (limiter.health().places?.A === 'returning') await time.pass(1);
    expect(limiter.health()).toMatchObject({ store: 'returning', places: { A: 'up' } });
    await time.pass(300);
    expect(limiter.health()).toMatchObject({ store: 'up', places: { A: 'up', B: 'up' } });
  });

  it('is charged what it is owed when it is found, and no other is', async () => {
    const replica = openPlaced({ p: HOURLY });
    const { limiter, store, time } = replica;
    await losePlace(replica, 'A');
    await losePlace(replica, 'B');
    for (const key of ['A1', 'A2', 'B1']) limiter.tryConsume({ p: key }, { cost: 2 });
    await findPlace(replica, 'A');
    expect(paid(replica)).toEqual([
      ['A1', 2],
      ['A2', 2],
    ]);
    for (const payment of store.payments.splice(0)) await payment.succeed();
    limiter.tryConsume({ p: 'A1' });
    limiter.tryConsume({ p: 'B1' });
    expect(paid(replica)).toEqual([['A1', 1]]);
    await store.payments.splice(0)[0]?.succeed();
    expect(limiter.health().owed).toBe(1);
    told(replica);
    await time.pass(RETURN_MS);
    expect(told(replica)).toContainEqual(['reconciled', 'A']);
    expect(paid(replica)).toEqual([]);
  });

  it('does not wait with its return for what is owed to another', async () => {
    const replica = openPlaced({ p: HOURLY });
    await losePlace(replica, 'A');
    await losePlace(replica, 'B');
    replica.limiter.tryConsume({ p: 'B1' });
    await findPlace(replica, 'A');
    await replica.time.pass(RETURN_MS);
    expect(replica.limiter.health().places).toEqual({ A: 'up', B: 'lost' });
  });

  it('hears of a refund when it is found itself', async () => {
    const replica = openPlaced({ p: HOURLY });
    const { limiter, store } = replica;
    await losePlace(replica, 'A');
    await losePlace(replica, 'B');
    await limiter.refund({ p: 'A1' }, { cost: 5 });
    await limiter.refund({ p: 'B1' }, { cost: 3 });
    await findPlace(replica, 'B');
    expect(store.refunds.map(({ permits }) => permits)).toEqual([3]);
    await findPlace(replica, 'A');
    expect(store.refunds.map(({ permits }) => permits)).toEqual([3, 5]);
  });

  it('refuses a reset and charges a settlement by itself', async () => {
    const replica = openPlaced({ p: HOURLY });
    const { limiter, store } = replica;
    await losePlace(replica, 'A');
    await expect(limiter.reset({ p: 'A1' })).rejects.toMatchObject({ fault: 'connection' });
    await limiter.reset({ p: 'B1' });
    const here = await limiter.settle({ p: 'A1' }, { estimate: 1, cost: 3 });
    expect(here.origin).toBe('fallback');
    const there = limiter.settle({ p: 'B1' }, { estimate: 1, cost: 3 });
    expect(paid(replica)).toEqual([['B1', 2]]);
    await store.payments[0]?.succeed();
    expect(await there).toMatchObject({ origin: 'store' });
  });

  it('is charged soon for what a failure had admitted that did not lose it', async () => {
    const replica = openPlaced({ p: HOURLY });
    await losePlace(replica, 'B');
    const call = replica.limiter.consume({ p: 'A1' });
    await (await replica.store.checkedAny()).fail(refused());
    await call;
    await replica.time.pass(50);
    expect(paid(replica)).toEqual([['A1', 1]]);
  });

  it('is charged at the end of the limiter, unless it is lost', async () => {
    const replica = openPlaced({ p: HOURLY });
    const { limiter, time, store } = replica;
    await losePlace(replica, 'B');
    limiter.tryConsume({ p: 'B1' });
    const call = limiter.consume({ p: 'A1' });
    await time.pass(5);
    await call;
    const closing = limiter.close();
    await everyTurn();
    expect(paid(replica)).toEqual([['A1', 1]]);
    await store.payments[0]?.succeed();
    await closing;
    const asked = await store.unseen();
    await time.pass(500);
    expect(await store.unseen()).toBe(asked);
  });

  it.each([
    ['up', 120_000],
    ['lost', 0],
  ])('that is %s and that nobody asks for is forgotten, or not', async (state, afterMs) => {
    const replica = openPlaced({ p: HOURLY });
    const { limiter, time, store } = replica;
    if (state === 'lost') await losePlace(replica, 'A');
    else {
      const call = limiter.consume({ p: 'A1' });
      await (await store.checked()).answer(fits(PROBE));
      await call;
    }
    time.clock.advance(60_000);
    expect(limiter.health().places).toEqual({ A: state });
    time.clock.advance(59_999);
    expect(limiter.health().places).toEqual({ A: state });
    time.clock.advance(1);
    expect(limiter.health().places).toEqual(afterMs > 0 ? {} : { A: state });
  });

  it('that is owed something, or is asked for, is not forgotten', async () => {
    const replica = openPlaced({ p: HOURLY });
    const { limiter, time, store } = replica;
    const call = limiter.consume({ p: 'A1' });
    await time.pass(5);
    await call;
    for (let i = 0; i < 3; i++) {
      time.clock.advance(60_000);
      expect(limiter.health().places).toEqual({ A: 'up' });
    }
    await time.pass(50);
    time.clock.advance(60_000);
    expect(limiter.health().places).toEqual({ A: 'up' });
    await store.payments[0]?.succeed();
    time.clock.advance(60_000);
    expect(limiter.health().places).toEqual({});
  });
});

describe('a lease whose place is lost', () => {
  it('is not asked for, nor returned there; elsewhere it is', async () => {
    const replica = openPlaced({ p: SMALL });
    const { limiter, store } = replica;
    await losePlace(replica, 'A');
    expect(await limiter.consume({ p: 'A1' })).toMatchObject({ origin: 'fallback' });
    expect(await store.unseen()).toBe(0);
    void limiter.consume({ p: 'B1' });
    expect((await store.checkedAny()).asked).toMatchObject({ key: 'B1' });
  });

  it('and whose claim fails in the background counts against its own place', async () => {
    const replica = openPlaced({ p: SMALL });
    const { limiter, store, time } = replica;
    together(limiter, 10);
    const claim = await store.claimed();
    await claim.answer(grantOf(claim.asked));
    time.clock.advance(10);
    for (let i = 0; i < 5; i++) limiter.tryConsume({ p: 'k' });
    await (await store.claimed()).fail(refused());
    expect(told(replica)).toEqual([['store-failed', 'k']]);
  });
});

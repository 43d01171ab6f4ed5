import { afterEach, describe, expect, it } from 'vitest';
import { RETURN_MS } from '../../src/fallback/breaker.js';
import { PROBE } from '../../src/fallback/probe.js';
import { fits } from '../support/answered-store.js';
import {
  findPlace,
  losePlace,
  openPlaced,
  type PlacedReplica,
  told,
} from '../support/placed-replica.js';
import { closeAll, paid, refused } from '../support/silent-replica.js';

afterEach(closeAll);

const HOURLY = { limit: 10, window: '1h' };

/** A place that is lost and owed two permits of `A1`. */
async function openLost(): Promise<PlacedReplica> {
  const replica = openPlaced({ p: HOURLY });
  await losePlace(replica, 'A');
  replica.limiter.tryConsume({ p: 'A1' }, { cost: 2 });
  told(replica);
  return replica;
}

/** Another place that is up, as a call has shown. */
async function know({ limiter, store }: PlacedReplica, key: string): Promise<void> {
  const call = limiter.consume({ p: key }, { cost: 0 });
  await (await store.checkedAny()).answer(fits(PROBE));
  await call;
}

const states = ({ limiter }: PlacedReplica) => limiter.health().places;

/** The events that say which place another one has come for. */
function heirs({ events }: PlacedReplica) {
  return events.flatMap((event) =>
    'insteadOf' in event ? [[event.type, event.insteadOf, event.place]] : [],
  );
}

describe('what was lost and is at a new place', () => {
  it('is lost there, until that answers; then it is charged, returning and back', async () => {
    const replica = await openLost();
    const { limiter, store, time, events } = replica;
    store.moved.set('A', 'N');
    expect(limiter.tryConsume({ p: 'A2' })).toMatchObject({ origin: 'fallback' });
    expect(states(replica)).toEqual({ N: 'lost' });
    await findPlace(replica, 'A');
    expect(states(replica)).toEqual({ N: 'returning' });
    expect(paid(replica)).toEqual([
      ['A1', 2],
      ['A2', 1],
    ]);
    for (const payment of store.payments.splice(0)) await payment.succeed();
    expect(limiter.tryConsume({ p: 'A2' })).toMatchObject({ origin: 'fallback' });
    await store.payments.splice(0)[0]?.succeed();
    await time.pass(RETURN_MS);
    expect(states(replica)).toEqual({ N: 'up' });
    expect(heirs(replica)).toEqual([
      ['store-found', 'A', 'N'],
      ['store-back', 'A', 'N'],
    ]);
    expect(events).toContainEqual(expect.objectContaining({ type: 'reconciled', place: 'N' }));
    const back = events.find(({ type }) => type === 'store-back');
    expect(back).toMatchObject({ outageMs: expect.any(Number) });
    expect((back as { outageMs: number }).outageMs).toBeGreaterThan(RETURN_MS);
    expect(limiter.health().owed).toBe(0);
  });

  it('is found there by a probe, where no call comes', async () => {
    const replica = await openLost();
    replica.store.moved.set('A', 'N');
    await findPlace(replica, 'A');
    expect(states(replica)).toEqual({ N: 'returning' });
    expect(heirs(replica)).toEqual([['store-found', 'A', 'N']]);
    expect(paid(replica)).toEqual([['A1', 2]]);
  });

  it('is found there also where it moved while the probe was under way', async () => {
    const replica = await openLost();
    const { store, time } = replica;
    await time.pass(100);
    const probe = await store.checked();
    store.moved.set('A', 'N');
    await probe.answer(fits(PROBE));
    expect(states(replica)).toEqual({ N: 'returning' });
    expect(heirs(replica)).toEqual([['store-found', 'A', 'N']]);
  });

  it('is tried there at once, however many probes the place before has not answered', async () => {
    const replica = await openLost();
    const { store, time } = replica;
    let asked = 0;
    for (let i = 0; i < 100; i++) {
      await time.pass(100);
      for (; (await store.unseen()) > 0; asked++) await store.checkedAny();
    }
    expect(asked).toBe(16);
    store.moved.set('A', 'N');
    replica.limiter.tryConsume({ p: 'A1' });
    await time.pass(1);
    await (await store.checked()).answer(fits(PROBE));
    expect(states(replica)).toEqual({ N: 'returning' });
  });

  it('goes on returning where it moves then', async () => {
    const replica = await openLost();
    const { limiter, store, time } = replica;
    await findPlace(replica, 'A');
    await store.payments.splice(0)[0]?.succeed();
    store.moved.set('A', 'N');
    expect(limiter.tryConsume({ p: 'A1' })).toMatchObject({ origin: 'fallback' });
    expect(states(replica)).toEqual({ N: 'returning' });
    await store.payments.splice(0)[0]?.succeed();
    await time.pass(RETURN_MS);
    expect(states(replica)).toEqual({ N: 'up' });
    expect(heirs(replica)).toEqual([['store-back', 'A', 'N']]);
  });

  it('is told as what came for the first where it moved twice, and as none where it came back', async () => {
    const replica = await openLost();
    const { limiter, store, time } = replica;
    for (const place of ['N', 'M']) {
      store.moved.set('A', place);
      limiter.tryConsume({ p: 'A1' }, { cost: 0 });
    }
    await findPlace(replica, 'A');
    store.moved.delete('A');
    limiter.tryConsume({ p: 'A1' }, { cost: 0 });
    await store.payments.splice(0)[0]?.succeed();
    await time.pass(RETURN_MS);
    expect(states(replica)).toEqual({ A: 'up' });
    expect(heirs(replica)).toEqual([['store-found', 'A', 'M']]);
    expect(told(replica)).toContainEqual(['store-back', 'A']);
  });

  it('leaves places that are up alone: a new place is another one then', async () => {
    const replica = openPlaced({ p: HOURLY });
    await know(replica, 'A1');
    replica.store.moved.set('A', 'N');
    await know(replica, 'A1');
    expect(states(replica)).toEqual({ A: 'up', N: 'up' });
  });

  it('is not taken for another place that is new', async () => {
    const replica = await openLost();
    await know(replica, 'C1');
    expect(states(replica)).toEqual({ A: 'lost', C: 'up' });
  });
});

describe('what was lost and is at a place that is known', () => {
  it('is asked there, and charged soon; that place is not lost for its sake', async () => {
    const replica = await openLost();
    const { limiter, store, time } = replica;
    await limiter.refund({ p: 'A3' }, { cost: 4 });
    await know(replica, 'B1');
    store.moved.set('A', 'B');
    expect(limiter.tryConsume({ p: 'A2' })).toBeUndefined();
    await time.pass(100);
    expect(await store.unseen()).toBe(0);
    expect(states(replica)).toEqual({ B: 'up' });
    expect(store.refunds.map(({ permits }) => permits)).toEqual([4]);
    await time.pass(50);
    expect(paid(replica)).toEqual([['A1', 2]]);
    await store.payments[0]?.succeed();
    expect(told(replica)).toEqual([
      ['store-found', 'B'],
      ['store-back', 'B'],
      ['reconciled', 'B'],
    ]);
    await time.pass(1000);
    expect(await store.unseen()).toBe(0);
    expect(limiter.health()).toMatchObject({ store: 'up', owed: 0 });
  });

  it('is charged ahead of the next question about it', async () => {
    const replica = await openLost();
    await know(replica, 'B1');
    replica.store.moved.set('A', 'B');
    void replica.limiter.consume({ p: 'A1' });
    expect(paid(replica)).toEqual([['A1', 2]]);
  });

  it('says whose part it was, and for how long that was lost', async () => {
    const replica = await openLost();
    await know(replica, 'B1');
    replica.store.moved.set('A', 'B');
    await replica.time.pass(100);
    expect(heirs(replica)).toEqual([
      ['store-found', 'A', 'B'],
      ['store-back', 'A', 'B'],
    ]);
    expect(replica.events).toContainEqual(
      expect.objectContaining({ type: 'store-back', outageMs: 100 }),
    );
  });

  it('waits there where that is lost, too, and is charged when it is found', async () => {
    const replica = await openLost();
    await losePlace(replica, 'B');
    told(replica);
    replica.store.moved.set('A', 'B');
    await replica.time.pass(99);
    await findPlace(replica, 'B');
    expect(states(replica)).toEqual({ B: 'returning' });
    expect(paid(replica)).toEqual([['A1', 2]]);
    expect(heirs(replica)).toEqual([]);
  });

  it('has a payment made again whose outcome the place before never told', async () => {
    const replica = await openLost();
    const { limiter, store, time } = replica;
    await know(replica, 'B1');
    await findPlace(replica, 'A');
    expect(paid(replica)).toEqual([['A1', 2]]);
    const [unknown] = store.payments.splice(0);
    for (let i = 0; i < 8 && states(replica)?.A !== 'lost'; i++) {
      limiter.tryConsume({ p: `A${i + 2}` });
      await store.payments.splice(0)[0]?.fail(refused());
    }
    store.moved.set('A', 'B');
    await time.pass(400);
    expect(states(replica)).toEqual({ B: 'up' });
    expect(paid(replica)).toContainEqual(['A1', 2]);
    for (const payment of store.payments.splice(0)) await payment.succeed();
    await unknown?.succeed();
    expect(store.refunds.map(({ permits }) => permits)).toEqual([2]);
  });
});

describe('a bucket that moved by itself', () => {
  it('is charged soon, where its place was up and is', async () => {
    const replica = openPlaced({ p: HOURLY });
    const { limiter, store, time } = replica;
    await know(replica, 'B1');
    const call = limiter.consume({ p: 'A1' });
    await (await store.checkedAny()).fail(refused());
    await call;
    store.moved.set('A1', 'B');
    await time.pass(100);
    expect(paid(replica)).toEqual([['A1', 1]]);
    await store.payments[0]?.succeed();
    expect(replica.events).toContainEqual(
      expect.objectContaining({ type: 'reconciled', place: 'B' }),
    );
  });

  it('from a place that is lost is charged when that is found, and the others there with it', async () => {
    const replica = await openLost();
    const { limiter, store, time } = replica;
    limiter.tryConsume({ p: 'A2' });
    await know(replica, 'B1');
    store.moved.set('A1', 'B');
    await findPlace(replica, 'A');
    expect(paid(replica)).toEqual([['A2', 1]]);
    await time.pass(50);
    expect(paid(replica)).toEqual([
      ['A2', 1],
      ['A1', 2],
    ]);
  });
});

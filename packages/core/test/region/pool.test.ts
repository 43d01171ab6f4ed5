import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openShared } from '../support/redis.js';
import { OnePool, RUSH } from './one-pool.js';

let shared: Awaited<ReturnType<typeof openShared>>;
let pools = 0;
let own: OnePool;
beforeAll(async () => {
  shared = await openShared();
});
afterAll(() => shared.close());
beforeEach(() => {
  own = new OnePool(shared.client, `${shared.prefix}${++pools}`);
});

it('spends what it holds, once', async () => {
  await own.hold({ permits: 3 });
  const { outcomes, left, grantedAtMs } = await own.ask({ costs: [2, 2, 1, 1] });
  expect(outcomes).toEqual(['taken', 'ask', 'taken', 'ask']);
  expect([left, grantedAtMs]).toEqual([0, 7000]);
});

it('counts the life of a grant from its order, and keeps a twentieth of it free', async () => {
  const { number } = await own.order();
  own.clock.advance(100);
  await own.grant(number, { lifeMs: 1000 });
  own.clock.advance(848);
  expect((await own.ask({ costs: [1] })).outcomes).toEqual(['taken']);
  own.clock.advance(1);
  expect(await own.left()).toBe(0);
  expect((await own.ask({ costs: [1] })).outcomes).toEqual(['ask']);
});

it('does not take up a grant that is over when its answer comes', async () => {
  const { number } = await own.order();
  own.clock.advance(949);
  await own.grant(number, { lifeMs: 1000 });
  expect(await own.left()).toBe(0);
  expect((await own.ask({ mayClaim: true })).order).toBeUndefined();
});

it('holds nothing after its clock stepped back, and owes what it owed', async () => {
  await own.hold();
  await own.pool.owe(own.bucket, 4);
  expect(await own.left()).toBe(10);
  own.clock.advance(-1);
  expect(await own.left()).toBe(0);
  expect((await own.order()).owed).toBe(4);
});

it('gives no number again after its clock stepped back', async () => {
  const { number } = await own.order();
  own.clock.advance(-1000);
  expect((await own.order()).number).toBeGreaterThan(number);
});

it('gives no number again after it was emptied', async () => {
  const { number } = await own.order();
  own.clock.advance(1);
  await own.pool.forget(own.bucket);
  expect((await own.order()).number).toBeGreaterThan(number);
});

it('has one claim under way, for as long as it is waited for', async () => {
  const first = await own.order();
  own.clock.advance(999);
  expect((await own.ask({ mayClaim: true, costs: RUSH })).order).toBeUndefined();
  own.clock.advance(1);
  expect((await own.order()).number).toBe(first.number + 1);
});

it('takes the answer to its last order alone', async () => {
  const first = await own.order();
  own.clock.advance(1000);
  const second = await own.order();
  await own.grant(first.number);
  expect(await own.left()).toBe(0);
  await own.grant(second.number, { permits: 4 });
  expect(await own.left()).toBe(4);
});

it('takes an answer once', async () => {
  const { number } = await own.order();
  await own.grant(number);
  await own.grant(number);
  expect(await own.left()).toBe(10);
});

it('orders again at once after a claim that failed, and waits its pace where nothing is urgent', async () => {
  await own.hold({ permits: 1, lifeMs: 60_000 });
  own.clock.advance(20);
  const ahead = { mayClaim: true, costs: [1], claimMs: 500 };
  const { outcomes, order } = await own.ask(ahead);
  expect(outcomes).toEqual(['taken']);
  await own.pool.failed(own.bucket, order?.number as number, 30);
  own.clock.advance(29);
  expect((await own.ask({ ...ahead, costs: [], lend: 1 })).order).toBeUndefined();
  own.clock.advance(1);
  expect((await own.ask({ ...ahead, costs: [], lend: 1 })).order).toBeDefined();
});

it('lets an older claim that failed be', async () => {
  const first = await own.order();
  own.clock.advance(1000);
  const second = await own.order();
  await own.pool.failed(own.bucket, first.number, 0);
  expect((await own.ask({ mayClaim: true, costs: RUSH })).order).toBeUndefined();
  await own.grant(second.number);
  expect(await own.left()).toBe(10);
});

it.each([1, 7, 10])('claims %d permits where no more may be held', async (most) => {
  expect((await own.order({ mostPermits: most })).extra).toBe(most);
});

it('claims as far ahead as it is told', async () => {
  // 20 calls in the half second before the first, of which the last tenth counts most.
  expect((await own.order({ horizonMs: 500, mostPermits: 1000 })).extra).toBe(19);
});

it('claims as much less as it holds, before that runs out', async () => {
  const extra = async (permits: number) => {
    own.clock.advance(1000);
    await own.pool.forget(own.bucket);
    await own.hold({ permits, lifeMs: 60_000 });
    own.clock.advance(100);
    const ahead = { mayClaim: true, lend: 1, claimMs: 5000, mostPermits: 1000 };
    return (await own.ask(ahead)).order?.extra as number;
  };
  expect((await extra(2)) - (await extra(8))).toBe(6);
});

it('does not claim while the home store may not be asked', async () => {
  const { outcomes, order } = await own.ask({ costs: [1] });
  expect([outcomes, order]).toEqual([['ask'], undefined]);
});

it('tells once what was spent, and returns once what is left', async () => {
  await own.hold();
  await own.ask({ costs: [4] });
  const [told] = (await own.order({ costs: [7] })).reports;
  expect(told).toEqual({ epoch: 1, spent: 4, returned: 6 });
  own.clock.advance(1000);
  expect((await own.order()).reports).toEqual([]);
});

it('tells what is left of a grant when its life is over, though nobody asks for permits', async () => {
  await own.hold();
  await own.ask({ costs: [4] });
  own.clock.advance(948);
  expect((await own.ask({ mayClaim: true })).order).toBeUndefined();
  own.clock.advance(1);
  const { order } = await own.ask({ mayClaim: true });
  expect(order).toMatchObject({ extra: 0, reports: [{ epoch: 1, spent: 4, returned: 6 }] });
  own.clock.advance(1000);
  expect((await own.ask({ mayClaim: true })).order).toBeUndefined();
});

it('tells once what is owed', async () => {
  await own.pool.owe(own.bucket, 5);
  expect((await own.ask({ mayClaim: true })).order).toMatchObject({ extra: 0, owed: 5 });
  own.clock.advance(1000);
  expect((await own.ask({ mayClaim: true })).order).toBeUndefined();
  own.clock.advance(100);
  expect((await own.order()).owed).toBe(0);
});

it('sets off what came back against what is owed later', async () => {
  await own.pool.owe(own.bucket, -3);
  expect((await own.order()).owed).toBe(0);
  await own.pool.owe(own.bucket, 5);
  own.clock.advance(1000);
  expect((await own.order()).owed).toBe(2);
});

it('is cut off for the first time where it was not for two seconds', async () => {
  const isFirst = async () => (await own.ask({ isCut: true })).isFirstCut;
  expect((await own.ask({})).isFirstCut).toBe(false);
  expect(await isFirst()).toBe(true);
  expect(await isFirst()).toBe(false);
  own.clock.advance(2000);
  expect(await isFirst()).toBe(false);
  own.clock.advance(2000);
  expect(await isFirst()).toBe(false);
  own.clock.advance(2001);
  expect((await own.ask({})).isFirstCut).toBe(false);
  expect(await isFirst()).toBe(true);
});

it('knows after its clock stepped back that it was cut off', async () => {
  await own.ask({ isCut: true });
  own.clock.advance(-1);
  expect((await own.ask({ isCut: true })).isFirstCut).toBe(false);
});

it('says what the home store last said', async () => {
  expect((await own.ask({})).home).toBeUndefined();
  await own.hold({ left: 50, refillAfterMs: 10, resetAfterMs: 500 });
  own.clock.advance(4);
  const { home } = await own.ask({});
  expect(home).toEqual({ left: 50, refillAfterMs: 6, resetAfterMs: 496 });
  own.clock.advance(496);
  expect((await own.ask({})).home).toEqual({ left: 50, refillAfterMs: 1, resetAfterMs: 0 });
});

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openShared } from '../support/redis.js';
import { OnePool } from './one-pool.js';

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

const lend = (permits: number, turn = 1, holder = 1) =>
  own.ask({ holder, turn, lend: permits, lentMs: 5000 });

const tell = (epoch: number, spent: number, returned: number, turn = 2, holder = 1) =>
  own.heard({ holder, turn, reports: [{ epoch, spent, returned }] });

/** What the home store is told next of all that is held. */
const told = async () => (await own.order({ costs: [50] })).reports;

it('lends what it is asked for, and no more than half of what it holds', async () => {
  await own.hold();
  expect((await lend(3)).lent.permits).toBe(3);
  expect(await own.left()).toBe(7);
  expect((await lend(7, 2)).lent.permits).toBe(4);
  expect(await own.left()).toBe(3);
});

it('lends the only permit', async () => {
  await own.hold({ permits: 1 });
  expect((await lend(1)).lent.permits).toBe(1);
  expect((await lend(1, 2)).lent).toEqual({ permits: 0, epoch: 0, lifeMs: 0 });
});

it('lends nothing where a call finds too little', async () => {
  await own.hold();
  const { outcomes, lent } = await own.ask({ holder: 1, turn: 1, lend: 2, costs: [11] });
  expect([outcomes, lent.permits]).toEqual([['ask'], 0]);
});

it('lends for no longer than the grant lives, and for no longer than it is told', async () => {
  await own.hold({ lifeMs: 1000 });
  own.clock.advance(400);
  expect((await own.ask({ lend: 1, lentMs: 5000 })).lent.lifeMs).toBe(549);
  expect((await own.ask({ lend: 1, lentMs: 200 })).lent.lifeMs).toBe(200);
  own.clock.advance(549);
  expect((await own.ask({ lend: 1 })).lent).toEqual({ permits: 0, epoch: 0, lifeMs: 0 });
});

it('names what is lent by the claim it came with', async () => {
  const { number } = await own.order();
  await own.grant(number, { epoch: 77 });
  expect((await lend(3)).lent.epoch).toBe(number);
});

it('takes back what is returned, and tells what was spent', async () => {
  await own.hold();
  const { epoch } = (await lend(5)).lent;
  await tell(epoch, 2, 3);
  expect(await own.left()).toBe(8);
  expect(await told()).toEqual([{ epoch: 1, spent: 2, returned: 8 }]);
});

it.each([
  { spent: 2, returned: 50, left: 8 },
  { spent: 50, returned: 50, left: 7 },
  { spent: 3, returned: 1, left: 7 },
])(
  'takes no more than was lent: $spent spent, $returned returned',
  async ({ spent, returned, left }) => {
    await own.hold();
    const { epoch } = (await lend(3)).lent;
    await tell(epoch, spent, returned);
    expect(await own.left()).toBe(left);
    expect(await told()).toEqual([{ epoch: 1, spent: Math.min(spent, 3), returned: left }]);
  },
);

it('hears no report of what it did not lend', async () => {
  await own.hold();
  await lend(3);
  await tell(123, 1, 2);
  expect(await own.left()).toBe(7);
});

it.each([
  ['the same turn', 2],
  ['an earlier turn', 1],
])('hears no report of %s again', async (_, again) => {
  await own.hold();
  const { epoch } = (await lend(5)).lent;
  expect(await tell(epoch, 1, 1, 2)).toBeDefined();
  expect(await tell(epoch, 1, 1, again)).toBeUndefined();
  expect(await own.left()).toBe(6);
  expect(await tell(epoch, 1, 1, 3)).toBeDefined();
  expect(await own.left()).toBe(7);
  expect(await told()).toEqual([{ epoch: 1, spent: 2, returned: 7 }]);
});

it('hears each holder by its own turns', async () => {
  await own.hold();
  const [one, two] = [(await lend(2, 1, 1)).lent, (await lend(2, 1, 2)).lent];
  expect(await tell(one.epoch, 2, 0, 9, 1)).toBeDefined();
  expect(await tell(two.epoch, 2, 0, 2, 2)).toBeDefined();
  expect(await told()).toEqual([{ epoch: 1, spent: 4, returned: 6 }]);
});

it('takes nothing for calls that it heard before', async () => {
  await own.hold();
  const { epoch } = (await lend(5)).lent;
  const again = { holder: 1, turn: 2, costs: [1], reports: [{ epoch, spent: 1, returned: 0 }] };
  expect((await own.heard(again))?.outcomes).toEqual(['taken']);
  expect(await own.heard(again)).toBeUndefined();
  expect(await own.left()).toBe(4);
});

it('does not return what is lent, and tells of it when it hears', async () => {
  await own.hold();
  const { epoch } = (await lend(4)).lent;
  expect(await told()).toEqual([{ epoch: 1, spent: 0, returned: 6 }]);
  await tell(epoch, 3, 1);
  own.clock.advance(1000);
  expect(await told()).toEqual([{ epoch: 1, spent: 3, returned: 1 }]);
});

it('tells of what was lent also when the life of its grant is over', async () => {
  await own.hold();
  const { epoch } = (await lend(4)).lent;
  own.clock.advance(1000);
  expect(await told()).toEqual([{ epoch: 1, spent: 0, returned: 6 }]);
  own.clock.advance(1000);
  await tell(epoch, 3, 1);
  expect(await told()).toEqual([{ epoch: 1, spent: 3, returned: 1 }]);
});

it('puts back what was taken here', async () => {
  await own.hold({ decidedAtMs: 7000 });
  await own.ask({ costs: [4] });
  expect(await own.pool.putBack(own.bucket, 3, 7000)).toBe(true);
  expect(await own.left()).toBe(9);
  expect(await told()).toEqual([{ epoch: 1, spent: 1, returned: 9 }]);
});

it.each([
  ['more than was taken', 5, 7000],
  ['what was taken before there was a grant', 4, 6999],
])('does not put back %s', async (_, permits, takenAtMs) => {
  await own.hold({ decidedAtMs: 7000 });
  await own.ask({ costs: [4] });
  expect(await own.pool.putBack(own.bucket, permits, takenAtMs)).toBe(false);
  expect(await own.left()).toBe(6);
});

it('does not put back what the home store was told of, nor what is over', async () => {
  await own.hold({ decidedAtMs: 7000 });
  await own.ask({ costs: [4] });
  await told();
  expect(await own.pool.putBack(own.bucket, 4, 7000)).toBe(false);
  own.clock.advance(1001);
  const { number } = await own.order();
  await own.grant(number, { decidedAtMs: 9000 });
  await own.ask({ costs: [4] });
  own.clock.advance(949);
  expect(await own.pool.putBack(own.bucket, 4, 9000)).toBe(false);
});

it('puts back once, and into one grant', async () => {
  await own.hold({ epoch: 1, lifeMs: 60_000 });
  await own.ask({ costs: [8] });
  own.clock.advance(100);
  const { order } = await own.ask({ mayClaim: true, lend: 1, claimMs: 500 });
  expect(order?.reports).toEqual([{ epoch: 1, spent: 8, returned: 0 }]);
  await own.grant(order?.number as number, { epoch: 2, lifeMs: 60_000 });
  const left = await own.left();
  await own.ask({ costs: [left] });
  expect(await own.pool.putBack(own.bucket, 1, 7000)).toBe(true);
  expect(await own.left()).toBe(1);
});

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { parsePolicy } from '../../src/policy/policy.js';
import { openShared } from '../support/redis.js';
import { OnePool, PACING, RUSH, USE_MS } from './one-pool.js';

/** What a pool remembers of denials, and for how long its key is there. */
let shared: Awaited<ReturnType<typeof openShared>>;
let pools = 0;
let own: OnePool;
beforeAll(async () => {
  shared = await openShared();
});
afterAll(() => shared.close());
const open = (policy?: ConstructorParameters<typeof OnePool>[2]) =>
  new OnePool(shared.client, `${shared.prefix}${++pools}`, policy);
beforeEach(() => {
  own = open();
});

const deny = (cost: number, waitMs: number, pool = own) =>
  pool.pool.denied(pool.bucket, pool.clock.nowMs(), cost, waitMs, PACING);

const outcomes = async (...costs: number[]) => (await own.ask({ costs })).outcomes;

it('denies what the home store denied, until that can fit', async () => {
  await deny(4, 300);
  expect(await outcomes(4)).toEqual([{ deniedMs: 300 }]);
  own.clock.advance(299);
  expect(await outcomes(4)).toEqual([{ deniedMs: 1 }]);
  own.clock.advance(1);
  expect(await outcomes(4)).toEqual(['ask']);
});

it('denies for as long as another answer takes, at least', async () => {
  await deny(4, 3);
  expect(await outcomes(4)).toEqual([{ deniedMs: PACING.paceMs }]);
});

it('denies for no longer than a second by what it was told once, and tells the whole wait', async () => {
  await deny(4, 300_000);
  own.clock.advance(999);
  expect(await outcomes(4, 5)).toEqual([{ deniedMs: 299_001 }, { deniedMs: 299_011 }]);
  own.clock.advance(1);
  expect(await outcomes(4)).toEqual(['ask']);
  await deny(4, 299_000);
  expect(await outcomes(4)).toEqual([{ deniedMs: 299_000 }]);
});

it('denies for no longer than nothing fits, where no claims are made', async () => {
  const sinceMs = own.clock.nowMs();
  const unpaced = { paceMs: 0, claimMs: 0 };
  own.clock.advance(100);
  await own.pool.denied(own.bucket, sinceMs, 4, 100, unpaced);
  expect(await outcomes(4)).toEqual(['ask']);
  await own.pool.denied(own.bucket, sinceMs, 4, 101, unpaced);
  expect(await outcomes(4)).toEqual([{ deniedMs: 1 }]);
});

it('counts the wait from when the home store was asked', async () => {
  const sinceMs = own.clock.nowMs();
  own.clock.advance(100);
  await own.pool.denied(own.bucket, sinceMs, 4, 300, PACING);
  expect(await outcomes(4)).toEqual([{ deniedMs: 200 }]);
});

it('says nothing of a smaller cost', async () => {
  await deny(4, 300);
  expect(await outcomes(3, 4)).toEqual(['ask', { deniedMs: 300 }]);
});

it('lets a greater cost wait longer by what that takes to refill', async () => {
  await deny(4, 300);
  expect(await outcomes(9)).toEqual([{ deniedMs: 350 }]);
});

it('lets a greater cost of a fixed window wait for the same end', async () => {
  own = open({ algorithm: 'fixed-window' });
  await deny(4, 300);
  expect(await outcomes(9)).toEqual([{ deniedMs: 300 }]);
});

it('knows nothing of a greater cost of a sliding window', async () => {
  own = open({ algorithm: 'sliding-window' });
  await deny(4, 300);
  expect(await outcomes(4, 9)).toEqual([{ deniedMs: 300 }, 'ask']);
});

it.each([
  { limit: 200, burst: 100, window: '1s' },
  { limit: 100, burst: 100, window: '2s' },
  { limit: 100, burst: 50, window: '1s' },
])('says nothing of other terms: $limit per $window, burst $burst', async (terms) => {
  await deny(4, 300);
  const bucket = { ...own.bucket, policy: parsePolicy('p', terms, '') };
  expect((await own.ask({ costs: [4] }, bucket)).outcomes).toEqual(['ask']);
});

it('keeps the denial of the smaller cost where that waits longer', async () => {
  await deny(4, 300);
  await deny(9, 100);
  expect(await outcomes(4)).toEqual([{ deniedMs: 300 }]);
  await deny(2, 100);
  expect(await outcomes(2)).toEqual([{ deniedMs: 100 }]);
});

it('takes no denial from after its clock stepped back', async () => {
  await own.pool.denied(own.bucket, own.clock.nowMs() + 1, 4, 300, PACING);
  expect(await outcomes(4)).toEqual(['ask']);
});

it('forgets a denial when it holds enough, is granted all, or gets some back', async () => {
  await deny(4, 300);
  await own.hold({ permits: 3 });
  expect(await outcomes(4)).toEqual(['ask']);
  await deny(4, 300);
  expect(await outcomes(3, 4)).toEqual(['taken', { deniedMs: 300 }]);
  await own.pool.putBack(own.bucket, 1, 7000);
  expect(await outcomes(4)).toEqual(['ask']);
});

it('denies by itself what it was granted too little for, until there is one more', async () => {
  await own.hold({ permits: 0, left: 0, refillAfterMs: 80, isShort: true });
  expect(await outcomes(1)).toEqual([{ deniedMs: 80 }]);
  own.clock.advance(80);
  expect(await outcomes(1)).toEqual(['ask']);
});

it('asks for what is left at home, though it was granted too little', async () => {
  await own.hold({ permits: 0, left: 5, isShort: true });
  expect(await outcomes(1)).toEqual(['ask']);
});

it('a look is the home store’s to answer where nothing is held', async () => {
  const look = async () => (await own.ask({ mayClaim: true, costs: [0] })).outcomes;
  expect(await look()).toEqual(['ask']);
  expect(await outcomes(0)).toEqual(['taken']);
  own.clock.advance(100);
  await own.hold();
  expect(await look()).toEqual(['taken']);
});

/** When the key expires, from now on. */
const livesMs = async () =>
  Number(await shared.client.get(`${own.key}:frozen`)) - own.clock.nowMs();

it('has a key that expires when nothing is held', async () => {
  await outcomes(1);
  expect(await livesMs()).toBe(USE_MS);
});

it('has a key that outlives what it holds', async () => {
  await own.hold({ lifeMs: 1_000_000 });
  expect(await livesMs()).toBe(949_999 + USE_MS);
  await outcomes(1);
  expect(await livesMs()).toBe(949_999 + USE_MS);
});

it.each<[string, () => Promise<unknown>]>([
  ['a denial', () => deny(4, 300)],
  ['a debt', () => own.pool.owe(own.bucket, 4)],
  ['a claim that failed', async () => own.pool.failed(own.bucket, (await own.order()).number, 5)],
])('has a key that expires after %s', async (_, act) => {
  await act();
  expect(await livesMs()).toBe(USE_MS);
});

it('has no key once it is emptied', async () => {
  await own.hold();
  await own.pool.forget(own.bucket);
  expect(await shared.client.exists(own.key)).toBe(0);
  expect((await own.ask({})).home).toBeUndefined();
});

it.each<[string, () => Promise<unknown>]>([
  ['a list', () => shared.client.rpush(own.key, '1')],
  ['a text', () => shared.client.set(own.key, 'no pool of anyone')],
  ['nothing', () => shared.client.set(own.key, '')],
  ['a number', () => shared.client.set(own.key, Buffer.from([1]))],
  ['another version', () => shared.client.set(own.key, Buffer.from([0x81, 0xa1, 0x76, 2]))],
])('begins anew where its key has %s', async (_, put) => {
  await put();
  await own.hold();
  expect(await outcomes(10)).toEqual(['taken']);
  expect(await shared.client.type(own.key)).toBe('string');
});

it('does not take a foreign value for one of its own in the middle of a claim', async () => {
  const { number } = await own.order();
  await shared.client.set(own.key, 'no pool of anyone');
  await own.grant(number);
  expect(await own.left()).toBe(0);
  expect((await own.ask({ mayClaim: true, costs: RUSH })).outcomes[0]).toBe('ask');
});

import { afterEach, describe, expect, it } from 'vitest';
import { open, openWarm, SMALL, spend, warm } from '../support/answered-replica.js';
import { fits, grantOf, together } from '../support/answered-store.js';
import { refused } from '../support/silent-replica.js';

type Replica = ReturnType<typeof open>;

const closing: Replica[] = [];
afterEach(async () => {
  for (const { limiter, store } of closing.splice(0)) {
    const closed = limiter.close();
    while ((await store.unseen()) > 0) await (await store.claimed()).fail(refused());
    await closed;
  }
});

/** A replica that holds five permits, and has asked for them in one claim, for ten calls. */
async function openHolding(): Promise<Replica> {
  const replica = await openWarm({ p: SMALL });
  closing.push(replica);
  return replica;
}

const leasesOf = ({ limiter }: Replica) => limiter.metrics().leases;

describe('what became of leased permits', () => {
  it('is counted from the first claim on', async () => {
    const replica = open({ p: SMALL });
    closing.push(replica);
    const none = { claims: 0, granted: 0, returned: 0, writtenOff: 0, buckets: 0 };
    expect(leasesOf(replica)).toEqual(none);
    await warm(replica);
    expect(leasesOf(replica)).toEqual({ ...none, claims: 1, granted: 5, buckets: 1 });
    spend(replica, 2);
    expect(leasesOf(replica)).toEqual({ ...none, claims: 1, granted: 5, buckets: 1 });
  });

  it('returned, where the store has heard of it', async () => {
    const replica = await openHolding();
    spend(replica, 2);
    const closed = replica.limiter.close();
    const claim = await replica.store.claimed();
    expect(claim.asked.reports).toEqual([{ epoch: 1, spent: 2, returned: 3 }]);
    expect(leasesOf(replica)).toMatchObject({ claims: 2, returned: 0 });
    await claim.answer(grantOf(claim.asked));
    await closed;
    expect(leasesOf(replica)).toEqual({
      claims: 2,
      granted: 5,
      returned: 3,
      writtenOff: 0,
      buckets: 0,
    });
  });

  it('written off, where it may not have: what was spent is no matter', async () => {
    const replica = await openHolding();
    spend(replica, 2);
    const closed = replica.limiter.close();
    await (await replica.store.claimed()).fail(refused());
    await closed;
    expect(leasesOf(replica)).toMatchObject({ claims: 2, returned: 0, writtenOff: 3 });
  });

  it('granted nothing by a claim that was heard before, and what it told of has come back', async () => {
    const replica = await openHolding();
    replica.clock.advance(2000);
    together(replica.limiter, 1);
    const claim = await replica.store.claimed();
    expect(claim.asked.reports).toEqual([{ epoch: 1, spent: 0, returned: 5 }]);
    await claim.answer(undefined);
    expect(leasesOf(replica)).toMatchObject({ granted: 5, returned: 5, writtenOff: 0 });
    const again = await replica.store.checked();
    await again.answer(fits(again.asked.policy));
  });

  it('written off, where other values of the policy have come in between', async () => {
    const replica = open({ p: SMALL });
    closing.push(replica);
    together(replica.limiter, 10);
    const claim = await replica.store.claimed();
    // By then it is not waited for any more, and the next one goes out.
    replica.clock.advance(2000);
    void replica.limiter.consume({ p: 'k' }, { policies: { p: { limit: 20 } } });
    await replica.store.unseen();
    await claim.answer(grantOf(claim.asked));
    expect(leasesOf(replica)).toMatchObject({ granted: 5, returned: 0, writtenOff: 5 });
    const next = await replica.store.checked();
    await next.answer(fits(next.asked.policy));
  });

  it.each([
    { heard: true, returned: 5, writtenOff: 0 },
    { heard: false, returned: 0, writtenOff: 5 },
  ])('told of ahead of a refund, heard: $heard', async ({ heard, ...expected }) => {
    const replica = await openHolding();
    replica.clock.advance(2000);
    await replica.limiter.refund({ p: 'k' });
    const claim = await replica.store.claimed();
    expect(claim.asked.reports).toEqual([{ epoch: 1, spent: 0, returned: 5 }]);
    if (heard) await claim.answer(grantOf(claim.asked));
    else await claim.fail(refused());
    expect(leasesOf(replica)).toMatchObject({ claims: 2, granted: 5, ...expected });
    expect(replica.limiter.metrics().storeErrors.connection).toBe(heard ? 0 : 1);
  });
});

describe('how long the store takes', () => {
  it('is counted for each call that waits, and once for a claim in advance', async () => {
    const replica = await openHolding();
    const latency = () => replica.limiter.metrics().storeLatency.count;
    expect(latency()).toBe(10);
    spend(replica, 5);
    expect(latency()).toBe(10);
    const ahead = await replica.store.claimed();
    expect(ahead.asked.costs).toEqual([]);
    await ahead.answer(grantOf(ahead.asked));
    expect(latency()).toBe(11);
  });

  it('also where a claim in advance fails, which is an error of its kind', async () => {
    const replica = await openHolding();
    spend(replica, 5);
    await (await replica.store.claimed()).fail(refused());
    const { storeLatency, storeErrors } = replica.limiter.metrics();
    expect(storeLatency.count).toBe(11);
    expect(storeErrors).toEqual({
      timeout: 0,
      connection: 1,
      unavailable: 0,
      'read-only': 0,
      memory: 0,
      permission: 0,
      other: 0,
    });
  });

  it('once, where calls wait for a claim that fails', async () => {
    const replica = open({ p: SMALL });
    closing.push(replica);
    const calls = together(replica.limiter, 10);
    await (await replica.store.claimed()).fail(refused());
    await Promise.all(calls);
    expect(replica.limiter.metrics().storeLatency.count).toBe(10);
    expect(replica.limiter.metrics().storeErrors.connection).toBe(10);
  });
});

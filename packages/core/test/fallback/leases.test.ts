import { afterEach, describe, expect, it } from 'vitest';
import { RETURN_MS } from '../../src/fallback/breaker.js';
import { five, origins, SMALL } from '../support/answered-replica.js';
import { fits, grantOf, together } from '../support/answered-store.js';
import {
  closeAll,
  find,
  kinds,
  lose,
  openSilent,
  refused,
  type SilentReplica,
} from '../support/silent-replica.js';

afterEach(closeAll);

const HOURLY = { limit: 10, window: '1h' };
const POLICIES = { p: SMALL, q: HOURLY };

/** Five permits of `p` are leased for a second, of which `left` more are in the store. */
async function openWarm(left = 5, policies = POLICIES): Promise<SilentReplica> {
  const replica = openSilent(policies);
  together(replica.limiter, 10);
  const claim = await replica.store.claimed();
  await claim.answer(grantOf(claim.asked, { left: fits(claim.asked.policy, left) }));
  return replica;
}

function spend({ limiter }: SilentReplica, count: number) {
  return origins(Array.from({ length: count }, () => limiter.tryConsume({ p: 'k' })));
}

describe('calls that wait for a claim', () => {
  it('are decided by the deadline, all of them', async () => {
    const { limiter, store, time } = openSilent({ p: SMALL });
    const calls = together(limiter, 10);
    expect((await store.claimed()).asked.costs).toHaveLength(10);
    await time.pass(5);
    expect(origins(await Promise.all(calls))).toEqual(Array(10).fill('fallback'));
  });

  it('are decided at once where it fails', async () => {
    const replica = openSilent({ p: SMALL });
    const calls = together(replica.limiter, 10);
    await (await replica.store.claimed()).fail(refused());
    expect(origins(await Promise.all(calls))).toEqual(Array(10).fill('fallback'));
    expect(replica.limiter.health().store).toBe('up');
  });

  it('and behind one that is lost are asked for when its time is over, in one claim', async () => {
    const { limiter, store, time } = openSilent({ p: SMALL });
    together(limiter, 10);
    await store.claimed();
    await time.pass(3);
    const behind = together(limiter, 2);
    expect(await store.unseen()).toBe(0);
    await time.pass(2);
    const next = together(limiter, 1);
    const claim = await store.claimed();
    expect(claim.asked.costs).toHaveLength(3);
    await claim.answer(grantOf(claim.asked));
    expect(origins(await Promise.all([...behind, ...next]))).toEqual(Array(3).fill('store'));
  });

  it('that were decided without the store are not asked for later', async () => {
    const { limiter, store, time } = openSilent({ p: SMALL });
    together(limiter, 10);
    await store.claimed();
    await time.pass(3);
    together(limiter, 2);
    await time.pass(20);
    together(limiter, 1);
    expect((await store.claimed()).asked.costs).toHaveLength(1);
  });

  it('and were made in a turn that takes long are asked for at its end all the same', async () => {
    const { limiter, store, time } = openSilent({ p: SMALL });
    const calls = together(limiter, 10);
    time.clock.advance(50);
    const claim = await store.claimed();
    expect(claim.asked.costs).toHaveLength(10);
    await claim.answer(grantOf(claim.asked));
    expect(origins(await Promise.all(calls))).toEqual(Array(10).fill('store'));
  });
});

describe('a grant that comes late', () => {
  it('becomes a lease; what it decides is not owed, as the store knows of it', async () => {
    const replica = openSilent({ p: SMALL });
    const { limiter, store, time } = replica;
    const calls = together(limiter, 10);
    const claim = await store.claimed();
    await time.pass(5);
    await Promise.all(calls);
    expect(limiter.health().owed).toBe(1);
    await claim.answer(grantOf(claim.asked, { permits: 5 }));
    expect(limiter.health().owed).toBe(0);
    expect(spend(replica, 5)).toEqual(five);
    expect(store.refunds).toEqual([]);
  });

  it('and serves a call that was decided without the store has it given back', async () => {
    const replica = openSilent({ p: { ...SMALL, fallback: 'closed' } });
    const { limiter, store, time } = replica;
    together(limiter, 10);
    const claim = await store.claimed();
    await time.pass(3);
    const behind = limiter.consume({ p: 'k' });
    await time.pass(5);
    expect((await behind).allowed).toBe(false);
    await claim.answer(grantOf(claim.asked, { permits: 5 }));
    // Those the store charged come back to it; the one that the lease served, to the lease.
    expect(store.refunds).toHaveLength(10);
    expect(spend(replica, 5)).toEqual(five);
  });
});

describe('while the store is lost', () => {
  it('held permits are spent first, then the share', async () => {
    const replica = await openWarm(3);
    await lose(replica, 'q');
    expect(spend(replica, 8)).toEqual([...five, 'fallback', 'fallback', 'fallback']);
    expect(replica.limiter.tryConsume({ p: 'k' })).toMatchObject({ allowed: false });
    expect(replica.limiter.health().owed).toBe(1);
  });

  it('no more is admitted than there is: what is held is not in the share as well', async () => {
    const replica = openSilent(POLICIES);
    together(replica.limiter, 2);
    const claim = await replica.store.claimed();
    const { policy } = claim.asked;
    // Of ten permits the calls took two, and five are granted in advance.
    const decisions = [fits(policy, 9), fits(policy, 8)];
    await claim.answer({
      ...grantOf(claim.asked, { decisions, permits: 5, left: fits(policy, 3) }),
    });
    await lose(replica, 'q');
    const allowed = Array.from(
      { length: 20 },
      () => replica.limiter.tryConsume({ p: 'k' })?.allowed,
    );
    expect(allowed.filter(Boolean)).toHaveLength(5 + 3);
  });

  it('no more is admitted than there is where a permit came back to the lease', async () => {
    const replica = await openWarm(3);
    const [decision] = [replica.limiter.tryConsume({ p: 'k' })];
    if (decision === undefined) throw new Error('nothing is held');
    await replica.limiter.refund({ p: 'k' }, { decision });
    await lose(replica, 'q');
    const allowed = Array.from(
      { length: 20 },
      () => replica.limiter.tryConsume({ p: 'k' })?.allowed,
    );
    expect(allowed.filter(Boolean)).toHaveLength(5 + 3);
  });

  it('the share goes by what the store said to a call that no claim was made for', async () => {
    const replica = openSilent(POLICIES);
    const { limiter, store } = replica;
    const call = limiter.consume({ p: 'k' });
    const check = await store.checked();
    await check.answer(fits(check.asked.policy, 2));
    await call;
    const both = limiter.consume({ p: 'other', q: 'k' });
    const list = await store.checkedAll();
    await list.answer(list.asked.map(({ policy }) => fits(policy, 3)));
    await both;
    await lose(replica, 'q');
    expect((await limiter.peek({ p: 'k' })).remaining).toBe(2);
    expect((await limiter.peek({ p: 'other' })).remaining).toBe(3);
  });

  it('nothing is claimed, told or returned', async () => {
    const replica = await openWarm();
    const { store, time } = replica;
    await lose(replica, 'q');
    spend(replica, 7);
    await time.pass(90);
    spend(replica, 1);
    expect(await store.unseen()).toBe(0);
    await replica.limiter.close();
    expect(await store.unseen()).toBe(0);
  });

  it('a lease is not spent beyond its time', async () => {
    const replica = await openWarm();
    await lose(replica, 'q');
    replica.time.clock.advance(2000);
    expect(spend(replica, 1)).toEqual(['fallback']);
  });

  it('a call under several policies, of which one is held, is decided by shares and spends no lease', async () => {
    const replica = await openWarm();
    await lose(replica, 'q');
    const decision = replica.limiter.tryConsume({ p: 'k', q: 'k' });
    expect(decision?.each?.map(({ origin }) => origin)).toEqual(['fallback', 'fallback']);
    expect(spend(replica, 5)).toEqual(five);
  });

  it('a call under several policies that are held is decided by leases', async () => {
    const replica = openSilent({ p: SMALL, q: SMALL, r: HOURLY });
    for (const name of ['p', 'q']) {
      together(replica.limiter, 10, name);
      const claim = await replica.store.claimed();
      await claim.answer(grantOf(claim.asked));
    }
    await lose(replica, 'r');
    const decision = replica.limiter.tryConsume({ p: 'k', q: 'k' });
    expect(decision?.each?.map(({ origin }) => origin)).toEqual(['lease', 'lease']);
  });
});

describe('a call under several policies whose store is silent', () => {
  it('is decided by the deadline; what is held is not spent where it is denied', async () => {
    const replica = await openWarm(5, { p: SMALL, q: { ...HOURLY, fallback: 'closed' } } as never);
    const { limiter, store, time } = replica;
    const call = limiter.consume({ p: 'k', q: 'k' });
    const check = await store.checkedAll();
    expect(check.asked.map(({ policy }) => policy.name)).toEqual(['q']);
    await time.pass(5);
    expect(await call).toMatchObject({ allowed: false });
    await check.fail(refused());
    expect(spend(replica, 5)).toEqual(five);
  });

  it('and answers late takes nothing of what is held for good, nor of the store', async () => {
    const replica = await openWarm(5, { p: SMALL, q: { ...HOURLY, fallback: 'closed' } } as never);
    const { limiter, store, time } = replica;
    const call = limiter.consume({ p: 'k', q: 'k' });
    const check = await store.checkedAll();
    await time.pass(5);
    await call;
    await check.answer(check.asked.map(({ policy }) => fits(policy)));
    expect(store.refunds.map(({ permits }) => permits)).toEqual([1]);
    expect(spend(replica, 5)).toEqual(five);
  });
});

describe('a claim that no call waits for', () => {
  it('and that is refused is noticed', async () => {
    const replica = await openWarm();
    kinds(replica);
    replica.time.clock.advance(10);
    spend(replica, 5);
    const claim = await replica.store.claimed();
    expect(claim.asked.costs).toEqual([]);
    await claim.fail(refused());
    expect(kinds(replica)).toEqual(['store-failed']);
  });
});

describe('when the store is up again', () => {
  it('more is claimed in advance', async () => {
    const replica = await openWarm();
    await lose(replica, 'q');
    spend(replica, 7);
    await find(replica);
    spend(replica, 1);
    for (const payment of replica.store.payments) await payment.succeed();
    expect(await replica.store.unseen()).toBe(0);
    await replica.time.pass(RETURN_MS);
    together(replica.limiter, 3);
    const claim = await replica.store.claimed();
    expect(claim.asked.costs).toHaveLength(3);
    // What was held and spent meanwhile is told once.
    expect(claim.asked.reports).toEqual([{ epoch: 1, spent: 5, returned: 0 }]);
  });
});

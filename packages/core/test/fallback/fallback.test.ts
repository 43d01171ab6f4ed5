import { afterEach, describe, expect, it } from 'vitest';
import { LocalDecisions } from '../../src/fallback/local-decisions.js';
import { createLimiter } from '../../src/limiter/limiter.js';
import type { Policy } from '../../src/policy/policy.js';
import { doesNotFit, fits, STORE_MS } from '../support/answered-store.js';
import { closeAll, kinds, openSilent, paid, refused } from '../support/silent-replica.js';
import { SteppedTime } from '../support/stepped-time.js';
import { everyTurn } from '../support/virtual-time.js';

afterEach(closeAll);

const HOURLY = { limit: 10, window: '1h' };
const WINDOW = { limit: 10, window: '1h', algorithm: 'fixed-window' } as const;

describe('a call whose store is silent', () => {
  it('is decided by its deadline, and says by whom and why', async () => {
    const { limiter, time } = openSilent({ p: HOURLY });
    let decision: unknown;
    void limiter.consume({ p: 'k' }).then((made) => (decision = made));
    await time.pass(4);
    expect(decision).toBeUndefined();
    await time.pass(1);
    expect(decision).toMatchObject({
      allowed: true,
      remaining: 9,
      origin: 'fallback',
      fallback: { mode: 'local', fault: 'timeout' },
    });
  });

  it('is decided by the deadline that was asked for', async () => {
    const { limiter, time } = openSilent({ p: HOURLY }, { deadline: '30ms', mode: 'closed' });
    let isDecided = false;
    const call = limiter.consume({ p: 'k' }).finally(() => (isDecided = true));
    await time.pass(29);
    expect(isDecided).toBe(false);
    await time.pass(1);
    expect(await call).toMatchObject({ allowed: false, fallback: { mode: 'closed' } });
  });

  it('under several policies is decided under all of them, each by its mode', async () => {
    const policies = { p: HOURLY, q: { ...HOURLY, fallback: 'open' } } as const;
    const { limiter, time } = openSilent(policies);
    const call = limiter.consume({ p: 'k', q: 'k' }, { cost: { p: 2, q: 50 } });
    await time.pass(5);
    const { each } = await call;
    expect(each?.map(({ remaining, fallback }) => [remaining, fallback?.mode])).toEqual([
      [8, 'local'],
      [0, 'open'],
    ]);
    expect(limiter.health().owed).toBe(2);
  });

  it('is one of few that are: the answer to another comes in time', async () => {
    const replica = openSilent({ p: HOURLY });
    const call = replica.limiter.consume({ p: 'k' });
    const check = await replica.store.checked();
    await replica.time.pass(4);
    await check.answer(fits(check.asked.policy, 7));
    expect(await call).toMatchObject({ origin: 'store', remaining: 7, fallback: undefined });
    await replica.time.pass(50);
    expect(kinds(replica)).toEqual([]);
    expect(replica.limiter.health().owed).toBe(0);
  });

  it('gets no second quota: the share goes by what the store said last', async () => {
    const { limiter, store, time } = openSilent({ p: HOURLY }, { replicas: 2 });
    const first = limiter.consume({ p: 'k' });
    const check = await store.checked();
    await check.answer(fits(check.asked.policy, 5));
    await first;
    const calls = Array.from({ length: 4 }, () => limiter.consume({ p: 'k' }));
    await time.pass(5);
    const decisions = await Promise.all(calls);
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, false, false]);
  });
});

describe('a call whose store fails', () => {
  it('is decided at once, with what was the matter', async () => {
    const replica = openSilent({ p: HOURLY });
    const call = replica.limiter.consume({ p: 'k' });
    await (await replica.store.checked()).fail(refused());
    expect(await call).toMatchObject({
      allowed: true,
      fallback: { mode: 'local', fault: 'connection' },
    });
    expect(kinds(replica)).toEqual(['store-failed']);
    await replica.time.pass(50);
    expect(kinds(replica)).toEqual([]);
  });

  it.each([[{ p: 'k' }], [{ p: 'k', q: 'k' }]])(
    'rejects where that is no failure of the store, %o: something is wrong with the call',
    async (keys) => {
      const replica = openSilent({ p: HOURLY, q: HOURLY });
      const { limiter, store } = replica;
      const error = new TypeError('a key of the wrong kind');
      const rejected = expect(limiter.consume(keys)).rejects.toBe(error);
      await (await ('q' in keys ? store.checkedAll() : store.checked())).fail(error);
      await rejected;
      expect(kinds(replica)).toEqual([]);
      expect(limiter.health()).toEqual({ store: 'up', replicas: 1, owed: 0, forgotten: 0 });
    },
  );

  it('is decided also where the store throws', async () => {
    const replica = openSilent({ p: HOURLY });
    replica.store.consume = () => {
      throw refused();
    };
    expect(await replica.limiter.consume({ p: 'k' })).toMatchObject({ origin: 'fallback' });
  });
});

describe('an answer that comes late', () => {
  async function silent(options: Parameters<typeof openSilent>[0], cost = 1) {
    const replica = openSilent(options);
    const call = replica.limiter.consume({ p: 'k' }, { cost });
    const check = await replica.store.checked();
    await replica.time.pass(5);
    return { ...replica, decision: await call, check };
  }

  it('and allows what was admitted: the store knows of it, nothing is owed', async () => {
    const { limiter, store, check } = await silent({ p: HOURLY }, 3);
    expect(limiter.health().owed).toBe(1);
    await check.answer(fits(check.asked.policy));
    expect(limiter.health().owed).toBe(0);
    expect(store.refunds).toEqual([]);
  });

  it.each([
    ['token bucket', HOURLY],
    ['window', WINDOW],
  ])(
    'and allows what was denied: it is given back to the %s it was taken from',
    async (_, policy) => {
      const { limiter, store, decision, check } = await silent(
        { p: { ...policy, fallback: 'closed' } },
        3,
      );
      expect(decision.allowed).toBe(false);
      await check.answer(fits(check.asked.policy));
      expect(store.refunds).toEqual([{ permits: 3, takenAtMs: STORE_MS }]);
      expect(limiter.health().owed).toBe(0);
    },
  );

  it('and denies what was admitted: that is still owed', async () => {
    const { limiter, store, check } = await silent({ p: HOURLY });
    await check.answer(doesNotFit(check.asked.policy, 100));
    expect(limiter.health().owed).toBe(1);
    expect(store.refunds).toEqual([]);
  });

  it('and denies what was denied changes nothing', async () => {
    const { limiter, store, check } = await silent({ p: { ...HOURLY, fallback: 'closed' } });
    await check.answer(doesNotFit(check.asked.policy, 100));
    expect(limiter.health().owed).toBe(0);
    expect(store.refunds).toEqual([]);
  });

  it('and fails changes nothing', async () => {
    const replica = await silent({ p: HOURLY });
    kinds(replica);
    await replica.check.fail(refused());
    expect(kinds(replica)).toEqual([]);
    expect(replica.limiter.health().owed).toBe(1);
  });

  it('and allows what was admitted and has been charged since: it is given back once', async () => {
    const { limiter, store, check } = await silent({ p: HOURLY }, 3);
    void limiter.consume({ p: 'k' });
    await store.payments[0]?.succeed();
    await check.answer(fits(check.asked.policy));
    expect(store.refunds).toEqual([{ permits: 3, takenAtMs: STORE_MS }]);
  });

  it('of a shadow policy that would have denied took nothing to give back', async () => {
    const options = { p: { ...HOURLY, limit: 1, shadow: true } };
    const { limiter, store, decision, check } = await silent(options, 3);
    expect(decision).toMatchObject({ allowed: true, wouldDeny: true });
    await check.answer({ ...doesNotFit(check.asked.policy, 100) });
    expect(limiter.health().owed).toBe(0);
    expect(store.refunds).toEqual([]);
  });

  it('of a shadow policy that took is given back where the fallback would have denied', async () => {
    const options = { p: { ...HOURLY, shadow: true, fallback: 'closed' } } as const;
    const { store, check } = await silent(options, 3);
    await check.answer(fits(check.asked.policy));
    expect(store.refunds).toEqual([{ permits: 3, takenAtMs: STORE_MS }]);
  });

  it('is not what the share goes by', async () => {
    const { limiter, time, check } = await silent({ p: HOURLY });
    await check.answer(fits(check.asked.policy, 0));
    const call = limiter.consume({ p: 'k' });
    await time.pass(5);
    expect(await call).toMatchObject({ allowed: true, remaining: 8 });
  });

  it('under several policies is made up for under each', async () => {
    const { limiter, store, time } = openSilent({ p: HOURLY, q: HOURLY });
    const call = limiter.consume({ p: 'k', q: 'k' }, { cost: { p: 2, q: 3 } });
    const check = await store.checkedAll();
    await time.pass(5);
    await call;
    expect(limiter.health().owed).toBe(2);
    await check.answer(check.asked.map(({ policy }) => fits(policy)));
    expect(limiter.health().owed).toBe(0);
    expect(store.refunds).toEqual([]);
  });

  it('under several policies of which the store denied one took nothing', async () => {
    const { limiter, store, time } = openSilent({ p: HOURLY, q: HOURLY });
    const call = limiter.consume({ p: 'k', q: 'k' });
    const check = await store.checkedAll();
    await time.pass(5);
    await call;
    const [p, q] = check.asked.map(({ policy }) => policy);
    if (p === undefined || q === undefined) throw new Error('two were asked');
    await check.answer([fits(p), doesNotFit(q, 10)]);
    expect(limiter.health().owed).toBe(2);
    expect(store.refunds).toEqual([]);
  });
});

describe('a settlement whose store is silent', () => {
  async function settle() {
    const replica = openSilent({ p: HOURLY });
    const { limiter, store, time } = replica;
    void limiter.consume({ p: 'other' });
    await (await store.checked()).answer(fits(limiter.policies.get('p') as Policy));
    const settling = limiter.settle({ p: 'k' }, { estimate: 1, cost: 4 });
    await time.pass(5);
    const [asked] = store.payments.splice(0);
    return { ...replica, decision: await settling, asked };
  }

  it('is made here by the deadline, and owed', async () => {
    const { limiter, decision } = await settle();
    expect(decision).toMatchObject({ remaining: 7, origin: 'fallback' });
    expect(limiter.health().owed).toBe(1);
  });

  it('and that is heard late is owed no more', async () => {
    const { limiter, store, asked } = await settle();
    await asked?.succeed();
    expect(limiter.health().owed).toBe(0);
    expect(store.refunds).toEqual([]);
  });

  it('and that is heard when it has been charged once more is given back once', async () => {
    const { limiter, store, asked } = await settle();
    void limiter.consume({ p: 'k' });
    await store.payments[0]?.succeed();
    await asked?.succeed();
    expect(store.refunds.map(({ permits }) => permits)).toEqual([3]);
  });
});

describe('what is owed while the store is up', () => {
  it('is charged ahead of the next question about its bucket, in the same turn, once', async () => {
    const replica = openSilent({ p: HOURLY });
    const { limiter, time } = replica;
    for (let i = 0; i < 2; i++) void limiter.consume({ p: 'k' }, { cost: 2 });
    await time.pass(5);
    void limiter.consume({ p: 'other' });
    expect(paid(replica)).toEqual([]);
    void limiter.consume({ p: 'k' });
    void limiter.consume({ p: 'k' });
    expect(paid(replica)).toEqual([['k', 4]]);
    kinds(replica);
    await replica.store.payments[0]?.succeed();
    expect(kinds(replica)).toEqual(['reconciled']);
    expect(limiter.health().owed).toBe(0);
  });

  it('is owed again where charging it fails', async () => {
    const replica = openSilent({ p: HOURLY });
    void replica.limiter.consume({ p: 'k' });
    await replica.time.pass(5);
    void replica.limiter.consume({ p: 'k' });
    await replica.store.payments.splice(0)[0]?.fail();
    void replica.limiter.consume({ p: 'k' });
    expect(paid(replica)).toEqual([['k', 1]]);
  });

  it('is owed by one of two limiters of a store, whichever it was', async () => {
    const a = openSilent({ p: HOURLY });
    const other = new LocalDecisions(a.store, a.time.clock, 'local');
    void a.limiter.consume({ p: 'k' });
    await a.time.pass(5);
    expect(other.owed.size).toBe(1);
  });
});

describe('a store in memory', () => {
  it('is not watched: it answers all by itself', async () => {
    const time = new SteppedTime();
    const limiter = createLimiter({ policies: { p: HOURLY }, clock: time.clock });
    expect(await limiter.consume({ p: 'k' })).toMatchObject({ origin: 'memory' });
    await everyTurn();
    expect(time.timers).toBe(0);
    expect(limiter.health()).toEqual({ store: 'up', replicas: 1, owed: 0, forgotten: 0 });
    await limiter.close();
    time.end();
  });
});

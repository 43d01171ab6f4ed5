import { once } from 'node:events';
import { startRedis } from '@rl/testkit';
import { afterEach, describe, expect, it } from 'vitest';
import { createLimiter } from '../../src/limiter/limiter.js';
import type { Store } from '../../src/store/store.js';
import { AnsweredStore, fits, STORE_MS } from '../support/answered-store.js';
import { startReplica, take, untilStore } from '../support/replica.js';
import { closeAll, openSilent, paid, refused } from '../support/silent-replica.js';

afterEach(closeAll);

const HOURLY = { limit: 10, window: '1h' };

describe('a failure that does not lose the store', () => {
  it('leaves nothing owed: that is charged soon, though nobody asks for the bucket again', async () => {
    const replica = openSilent({ p: HOURLY });
    const { limiter, store, time } = replica;
    const calls = ['a', 'b'].map((key) => limiter.consume({ p: key }));
    for (const _ of calls) await (await store.checkedAny()).fail(refused());
    await Promise.all(calls);
    expect([limiter.health().store, limiter.health().owed]).toEqual(['up', 2]);
    await time.pass(50);
    expect(paid(replica)).toEqual([
      ['a', 1],
      ['b', 1],
    ]);
    await store.payments.shift()?.succeed();
    await store.payments.shift()?.fail();
    await time.pass(50);
    expect(paid(replica)).toEqual([['b', 1]]);
    await store.payments[0]?.succeed();
    expect(limiter.health().owed).toBe(0);
  });

  it('gives nothing away to others: connections that are cut once, on a real Redis', async () => {
    const server = await startRedis();
    const policies = { p: { limit: 100, window: '1h' } };
    const fallback = { replicas: 2, deadline: '10s' };
    const start = () => startReplica(server, { policies, fallback });
    const [one, other] = [await start(), await start()];
    await Promise.all([one, other].map(({ limiter }) => untilStore(limiter, 'k')));
    const cut = one.cable.cutBeforeReply((sent) => sent.includes('eval'));
    const calls = Array.from({ length: 60 }, () => one.limiter.consume({ p: 'k' }));
    await cut;
    const decisions = await Promise.all(calls);
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(50);
    expect(one.limiter.health().store).toBe('up');
    if (one.client.status !== 'ready') await once(one.client, 'ready');
    await expect.poll(() => one.limiter.health().owed).toBe(0);
    expect(await take(other.limiter, 100)).toBeLessThanOrEqual(50);
    await Promise.all([one, other].map((replica) => replica.close()));
    await server.close();
  });
});

describe('an answer that comes late', () => {
  it('to a settle is not charged twice, in the window it was charged to', async () => {
    const window = { limit: 10, window: '1h', algorithm: 'fixed-window' } as const;
    const { limiter, store, time } = openSilent({ p: window });
    void limiter.consume({ p: 'other' });
    await (await store.checked()).answer(fits(limiter.policies.get('p') as never));
    const settled = limiter.settle({ p: 'k' }, { estimate: 1, cost: 4 });
    await time.pass(5);
    await settled;
    expect(limiter.health().owed).toBe(1);
    // It is paid again before the first one is heard.
    await time.pass(50);
    const [first, second] = store.payments.splice(0);
    await second?.succeed();
    await first?.succeed();
    expect(store.refunds).toEqual([{ permits: 3, takenAtMs: STORE_MS }]);
  });

  it('to a refund is not asked for again: it resolves to what is known here', async () => {
    const replica = openSilent({ p: HOURLY });
    const refunds: unknown[] = [];
    replica.store.refund = () => {
      refunds.push('asked');
      return new Promise(() => {});
    };
    const refunded = replica.limiter.refund({ p: 'k' }, { cost: 2 });
    await replica.time.pass(5);
    expect(await refunded).toMatchObject({ origin: 'fallback', fallback: { fault: 'timeout' } });
    await replica.time.pass(1000);
    expect(refunds).toEqual(['asked']);
  });
});

describe('a store that does not keep its contract', () => {
  class Garbage extends AnsweredStore {
    override async consume(): Promise<never> {
      return undefined as never;
    }
  }

  it('has a look at it decided without it', async () => {
    const store: Store = new Garbage();
    const limiter = createLimiter({
      policies: { p: HOURLY },
      store,
      fallback: { deadline: '1m', replicas: 1, onEvent: () => {} },
    });
    expect(await limiter.peek({ p: 'k' })).toMatchObject({ origin: 'fallback' });
    await limiter.close();
  });
});

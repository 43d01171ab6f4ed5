import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RETURN_MS } from '../../src/fallback/breaker.js';
import { forgetWarnings } from '../http/warnings.js';
import { losePlace, openPlaced } from '../support/placed-replica.js';
import { closeAll, find, kinds, lose, openSilent, refused } from '../support/silent-replica.js';
import { everyTurn } from '../support/virtual-time.js';

/** Codes of process warnings, and what they say. */
let warnings: [code: string, message: string][];

beforeEach(() => {
  forgetWarnings();
  warnings = [];
  vi.spyOn(process, 'emitWarning').mockImplementation(((
    message: string,
    { code }: { code: string },
  ) => warnings.push([code, message])) as never);
});
afterEach(closeAll);

const POLICIES = { p: { limit: 10, window: '1h' } };

describe('what is told of an outage', () => {
  it('is its failures, its loss, its end and what was charged, in this order', async () => {
    const replica = openSilent(POLICIES);
    const { limiter, store, time, events } = replica;
    await lose(replica);
    limiter.tryConsume({ p: 'k' }, { cost: 3 });
    const lost = [...Array(5).fill('store-failed'), 'store-lost'];
    expect(kinds(replica)).toEqual(lost);
    await time.pass(100);
    await (await store.checked()).fail(refused());
    expect(kinds(replica)).toEqual(['store-failed']);
    await find(replica, 200);
    expect(kinds(replica)).toEqual(['store-found']);
    await store.payments.splice(0)[0]?.succeed();
    limiter.tryConsume({ p: 'k' });
    await store.payments[0]?.succeed();
    expect(events).toEqual([]);
    await time.pass(RETURN_MS);
    expect(events.splice(0)).toEqual([
      { type: 'store-back', outageMs: 100 + 200 + RETURN_MS },
      { type: 'reconciled', buckets: 2, permits: 4 },
    ]);
    expect(warnings).toEqual([]);
  });

  it('says why, with the error itself', async () => {
    const replica = openSilent(POLICIES);
    await lose(replica);
    const [failed] = replica.events.filter(({ type }) => type === 'store-failed');
    const [lost] = replica.events.filter(({ type }) => type === 'store-lost');
    const error = { code: 'RL_STORE_FAILED', message: 'the store could not decide: refused' };
    expect(failed).toMatchObject({ fault: 'connection', error });
    expect(lost).toMatchObject({ fault: 'connection', error });
  });

  it('counts the whole outage where the store was found and lost once more', async () => {
    const replica = openSilent(POLICIES);
    await lose(replica);
    replica.limiter.tryConsume({ p: 'k' });
    await find(replica);
    for (let i = 0; i < 5; i++) {
      await replica.store.payments.splice(0)[0]?.fail();
      replica.limiter.tryConsume({ p: 'k' });
    }
    expect(kinds(replica).slice(-3)).toEqual(['store-failed', 'store-failed', 'store-lost']);
    await find(replica);
    await replica.store.payments[0]?.succeed();
    kinds(replica);
    await replica.time.pass(RETURN_MS);
    expect(replica.events[0]).toEqual({ type: 'store-back', outageMs: 200 + RETURN_MS });
  });

  it('is the number of replicas, when the first question is asked', async () => {
    const { limiter, events } = openSilent(POLICIES, { replicas: 7 });
    await everyTurn();
    expect(events).toEqual([]);
    void limiter.consume({ p: 'k' });
    expect(events).toEqual([{ type: 'replicas', replicas: 7 }]);
    expect(limiter.health().replicas).toBe(7);
  });

  it('is that the number of replicas is not known, where the store is lost before it was', async () => {
    const replica = openSilent(POLICIES, { replicas: () => new Promise<number>(() => {}) });
    await lose(replica);
    expect(kinds(replica).slice(-2)).toEqual(['store-lost', 'replicas-unknown']);
    expect(replica.limiter.health().replicas).toBe(1);
  });

  it('is told outside of the request whose time was over', async () => {
    const requests = new AsyncLocalStorage<string>();
    const seen: [type: string, request: string | undefined][] = [];
    const { limiter, time } = openSilent(POLICIES, {
      onEvent: ({ type }) => void seen.push([type, requests.getStore()]),
    });
    requests.run('request', () => void limiter.consume({ p: 'k' }));
    seen.length = 0;
    await time.pass(5);
    expect(seen).toEqual([['store-failed', undefined]]);
  });
});

describe('an observer', () => {
  it.each([
    [
      'throws',
      () => {
        throw new Error('observer is broken');
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('observer is broken');
      },
    ],
  ])('that %s is ignored, but for one warning', async (_, onEvent) => {
    const replica = openSilent(POLICIES, { onEvent });
    await lose(replica);
    await find(replica);
    await everyTurn();
    expect(replica.limiter.health().store).toBe('returning');
    expect(warnings).toEqual([
      ['RL_OBSERVER_FAILED', expect.stringContaining('observer is broken')],
    ]);
  });

  it('that throws what has no text is ignored as well', async () => {
    const replica = openSilent(POLICIES, {
      onEvent: () => {
        throw Object.create(null);
      },
    });
    await lose(replica);
    expect(replica.limiter.health().store).toBe('lost');
    expect(warnings.map(([code]) => code)).toEqual(['RL_OBSERVER_FAILED']);
  });

  it('may ask the limiter, and close it', async () => {
    const seen: unknown[] = [];
    const replica = openSilent(POLICIES, {
      onEvent: ({ type }) => {
        if (type !== 'store-lost') return;
        seen.push(limiter.health().store, limiter.tryConsume({ p: 'k' })?.origin);
        void limiter.close();
      },
    });
    const { limiter } = replica;
    await lose(replica);
    expect(seen).toEqual(['lost', 'fallback']);
    await replica.time.pass(500);
    expect(await replica.store.unseen()).toBe(0);
  });
});

describe('where nobody listens', () => {
  it('the first loss is one process warning; failures alone are none', async () => {
    const replica = openSilent(POLICIES, { onEvent: undefined });
    const call = replica.limiter.consume({ p: 'k' });
    await (await replica.store.checked()).fail(refused());
    await call;
    expect(warnings).toEqual([]);
    await lose(replica);
    const message = /^the store is lost, .*: the store could not decide: refused \(connection\);/;
    expect(warnings).toEqual([['RL_STORE_LOST', expect.stringMatching(message)]]);
    const other = openSilent(POLICIES, { onEvent: undefined });
    await lose(other);
    expect(warnings).toHaveLength(1);
  });

  it('the loss of one place says which', async () => {
    await losePlace(openPlaced(POLICIES, { onEvent: undefined }), 'A');
    const message = expect.stringMatching(/^the store is lost at A, and the fallback decides/);
    expect(warnings).toEqual([['RL_STORE_LOST', message]]);
  });

  it('that the number of replicas is not known is one, too', async () => {
    const replicas = () => {
      throw new Error('no such host');
    };
    const replica = openSilent(POLICIES, { onEvent: undefined, replicas });
    void replica.limiter.consume({ p: 'k' });
    expect(warnings).toEqual([['RL_REPLICAS_UNKNOWN', expect.stringContaining('no such host')]]);
  });
});

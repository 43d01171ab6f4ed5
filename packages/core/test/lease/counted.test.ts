import { describe, expect, it } from 'vitest';
import type { Decision } from '../../src/decision/decision.js';
import { createLimiter, type Limiter } from '../../src/limiter/limiter.js';
import type { PolicyOptions } from '../../src/policy/policy.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import type { Claim, Grant, Store } from '../../src/store/store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { origins, SMALL } from '../support/answered-replica.js';
import { together } from '../support/answered-store.js';
import { PATIENT } from '../support/patient.js';
import { everyTurn } from '../support/virtual-time.js';
import { AsyncDelegate } from '../testing/delegate.js';

describe('with a store that keeps count', () => {
  /** Elsewhere; notes what each claim wanted in advance, and rejects while it is cut off. */
  class Elsewhere extends AsyncDelegate {
    readonly wanted: number[] = [];
    isCut = false;

    override async claim(claim: Claim): Promise<Grant | undefined> {
      this.#check();
      this.wanted.push(claim.extra);
      return super.claim(claim);
    }
    override async consume(...check: Parameters<Store['consume']>): Promise<Decision> {
      this.#check();
      return super.consume(...check);
    }

    #check(): void {
      if (this.isCut) throw new Error('cut off');
    }
  }

  function openTwo(policies: Record<string, PolicyOptions>) {
    const clock = new ManualClock();
    const inner = memoryStore({ clock });
    const stores = [new Elsewhere(inner), new Elsewhere(inner)] as const;
    const [a, b] = stores.map((store) =>
      createLimiter({ policies, store, fallback: PATIENT, clock }),
    );
    return { clock, store: stores[0], a: a as Limiter, b: b as Limiter };
  }

  async function admitted(limiter: Limiter, calls: number, policy = 'p'): Promise<number> {
    let count = 0;
    for (let i = 0; i < calls; i++) {
      if ((await limiter.consume({ [policy]: 'k' })).allowed) count++;
    }
    await everyTurn();
    return count;
  }

  it.each(['token-bucket', 'fixed-window', 'sliding-window'] as const)(
    'S-17 ten calls over several claims count as ten, %s',
    async (algorithm) => {
      const policy = { limit: 100, window: '1d', algorithm, lease: true } as const;
      const { clock, store, a, b } = openTwo({ p: policy });
      for (let i = 0; i < 10; i++) {
        expect((await a.consume({ p: 'k' })).allowed).toBe(true);
        await everyTurn();
        clock.advance(100);
      }
      expect(store.wanted.length).toBeGreaterThanOrEqual(3);
      await a.close();
      expect(await b.peek({ p: 'k' })).toMatchObject({ remaining: 90 });
    },
  );

  const HELD = { limit: 100, window: '2s', lease: { horizon: '500ms' } } as const;

  it('O-12 what a replica held that died is not missing in the next window', async () => {
    const { clock, a, b } = openTwo({ p: { ...HELD, algorithm: 'fixed-window' } });
    await Promise.all(together(a, 50));
    expect((await b.peek({ p: 'k' })).remaining).toBeLessThanOrEqual(1);
    clock.advance(2000);
    expect(await admitted(b, 200)).toBe(100);
  });

  it('O-12 the bucket is whole again two lease times and a refill later', async () => {
    const { clock, a, b } = openTwo({ p: HELD });
    await Promise.all(together(a, 50));
    expect((await b.peek({ p: 'k' })).remaining).toBeLessThanOrEqual(1);
    clock.advance(2 * 1000 + 1000);
    expect(await admitted(b, 200)).toBe(100);
  });

  it('O-12 a replica that is closed gives back at once what it held', async () => {
    const { a, b } = openTwo({ p: HELD });
    await Promise.all(together(a, 50));
    expect((await b.peek({ p: 'k' })).remaining).toBeLessThanOrEqual(1);
    await a.close();
    expect(await b.peek({ p: 'k' })).toMatchObject({ remaining: 50 });
  });

  it('O-10 what was spent of past windows while the store was cut off is not charged to the next', async () => {
    const lease = { ttl: '10s', horizon: '5s', maxShare: 1 };
    const policy = { limit: 5, window: '10s', algorithm: 'fixed-window', lease } as const;
    const { clock, store, a } = openTwo({ p: policy });
    clock.set(Math.ceil(clock.nowMs() / 10_000) * 10_000);
    expect(await admitted(a, 1)).toBe(1);
    store.isCut = true;
    const local = [1, 2, 3, 4].map(() => a.tryConsume({ p: 'k' }));
    expect(origins(local)).toEqual(['lease', 'lease', 'lease', 'lease']);
    for (const passMs of [10_000, 10_000, 5_000]) {
      clock.advance(passMs);
      await expect(a.consume({ p: 'k' })).rejects.toThrow('cut off');
    }
    store.isCut = false;
    clock.advance(5_000);
    expect(await admitted(a, 10)).toBe(5);
  });

  it('a refund near a window’s end does not reach into the next window', async () => {
    const { clock, a, b } = openTwo({ p: { ...SMALL, algorithm: 'fixed-window' } });
    clock.set(Math.ceil(clock.nowMs() / 1000) * 1000);
    await Promise.all(together(a, 4));
    clock.advance(940);
    const decision = a.tryConsume({ p: 'k' });
    expect(decision?.origin).toBe('lease');
    clock.advance(60);
    expect(await admitted(b, 5)).toBe(5);
    await a.refund({ p: 'k' }, { decision });
    expect((await b.peek({ p: 'k' })).remaining).toBe(5);
  });

  it('a shadow policy that is not leased stops to deny when permits are back', async () => {
    const { clock, a } = openTwo({ p: { limit: 10, window: '1s', shadow: true } });
    await a.consume({ p: 'k' }, { cost: 10 });
    expect(await a.consume({ p: 'k' })).toMatchObject({ allowed: true, wouldDeny: true });
    clock.advance(200);
    expect(await a.consume({ p: 'k' })).toMatchObject({ allowed: true, wouldDeny: false });
  });

  it.each([
    { of: 'lives', passMs: 50 },
    { of: 'is over', passMs: 2100 },
  ])(
    'what was put aside of a lease that $of does not come back on top of a full bucket',
    async (row) => {
      const lease = { ttl: 1000, maxShare: 1, horizon: 20, pace: 1 };
      const policies = {
        p: { limit: 1000, window: 1000, burst: 20, lease },
        q: { limit: 1, window: '1h', algorithm: 'fixed-window' },
      } as const;
      const { clock, store, a, b } = openTwo(policies);
      let release = () => {};
      const late = new Promise<void>((resolve) => {
        release = resolve;
      });
      store.consumeAll = async (charges) => {
        const decisions = await store.inner.consumeAll(charges);
        await late;
        return decisions;
      };
      await a.consume({ q: 'k' });
      for (let i = 0; i < 300; i++) {
        void a.consume({ p: 'k' });
        await everyTurn();
        clock.advance(1);
      }
      // Of p from the lease; q denies, and the answer is late.
      const both = a.consume({ p: 'k', q: 'k' });
      const before = store.wanted.length;
      while (store.wanted.length === before) {
        a.tryConsume({ p: 'k' });
        await everyTurn();
      }
      clock.advance(row.passMs);
      const byB = await admitted(b, 25);
      release();
      expect((await both).allowed).toBe(false);
      expect(byB + (await admitted(a, 25)) + (await admitted(b, 25))).toBe(20);
    },
  );
});

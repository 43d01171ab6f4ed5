import { createHook } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import type { Decision } from '../../src/decision/decision.js';
import { createLimiter, type Limiter } from '../../src/limiter/limiter.js';
import { type PolicyOptions, parsePolicy } from '../../src/policy/policy.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import type { Charge, Claim, Grant, Store } from '../../src/store/store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import {
  AnsweredStore,
  doesNotFit,
  fits,
  grantOf,
  STORE_MS,
  together,
} from '../support/answered-store.js';
import { everyTurn } from '../support/virtual-time.js';
import { AsyncDelegate } from '../testing/delegate.js';

/** At most 5 permits are leased, for a second; a permit comes back each 100 ms. The pace is 60 ms. */
const SMALL = { limit: 10, window: '1s', lease: true } as const;
/** Looks so little ahead that nothing is leased of it here. */
const NEVER_AHEAD = { limit: 10, window: '1s', lease: { horizon: 1 } } as const;
const BIG = { limit: 1000, window: '1s', lease: true } as const;
const SMALL_POLICY = parsePolicy('p', SMALL, 'policies.p');

interface Replica {
  readonly limiter: Limiter;
  readonly store: AnsweredStore;
  readonly clock: ManualClock;
}

function open(policies: Record<string, PolicyOptions>): Replica {
  const store = new AnsweredStore();
  const clock = new ManualClock();
  return { store, clock, limiter: createLimiter({ policies, store, clock }) };
}

/** Asks for the whole burst at once, in as many calls, so that half of it is leased: of `SMALL`, 5 permits. */
async function warm(
  { limiter, store, clock }: Replica,
  { policy = 'p', answerAfterMs = 0, ...answer }: WarmOptions = {},
): Promise<void> {
  together(limiter, limiter.policies.get(policy)?.burst ?? 0, policy);
  const claim = await store.claimed();
  clock.advance(answerAfterMs);
  await claim.answer(grantOf(claim.asked, answer));
}

interface WarmOptions extends Partial<Grant> {
  policy?: string;
  answerAfterMs?: number;
}

async function openWarm(policy: PolicyOptions = SMALL, options?: WarmOptions): Promise<Replica> {
  const replica = open({ p: policy });
  await warm(replica, options);
  return replica;
}

/** The store has denied a call of `cost` permits just now. */
async function openDenied(policy: PolicyOptions, waitMs: number, cost = 1): Promise<Replica> {
  const replica = open({ p: policy });
  const call = replica.limiter.consume({ p: 'k' }, { cost });
  const check = await replica.store.checked();
  await check.answer(doesNotFit(check.asked.policy, waitMs));
  await call;
  return replica;
}

/** The decisions that are made at once on `count` calls. */
function spend({ limiter }: Replica, count: number, policy = 'p'): (Decision | undefined)[] {
  return Array.from({ length: count }, () => limiter.tryConsume({ [policy]: 'k' }));
}

function origins(decisions: readonly (Decision | undefined)[]): (string | undefined)[] {
  return decisions.map((decision) => decision?.origin);
}

const five = ['lease', 'lease', 'lease', 'lease', 'lease'];

describe('when a lease is asked for', () => {
  it('before what is held has run dry, which is spent meanwhile', async () => {
    const replica = await openWarm(BIG);
    spend(replica, 496);
    expect(await replica.store.unseen()).toBe(0);
    spend(replica, 1);
    const { asked } = await replica.store.claimed();
    expect(asked).toMatchObject({ costs: [], extra: 500 });
    expect(asked.reports).toEqual([{ epoch: 1, spent: 497, returned: 0 }]);
    expect(origins(spend(replica, 4))).toEqual(['lease', 'lease', 'lease', undefined]);
  });

  it('once for all calls that wait, and the answer serves those that come meanwhile', async () => {
    const { limiter, store } = open({ p: SMALL });
    const first = [5, 5].map((cost) => limiter.consume({ p: 'k' }, { cost }));
    const claim = await store.claimed();
    expect(claim.asked.costs).toEqual([5, 5]);
    const later = [1, 2, 2].map((cost) => limiter.consume({ p: 'k' }, { cost }));
    expect(await store.unseen()).toBe(0);
    await claim.answer(grantOf(claim.asked, { permits: 5 }));
    expect(origins(await Promise.all(first))).toEqual(['store', 'store']);
    expect(origins(await Promise.all(later))).toEqual(['lease', 'lease', 'lease']);
    expect(await store.unseen()).toBe(0);
  });

  it('never of a bucket that sees a call a second', async () => {
    const { limiter, store, clock } = open({ p: BIG });
    for (let i = 0; i < 20; i++) {
      const call = limiter.consume({ p: 'k' });
      const check = await store.checked();
      await check.answer(fits(check.asked.policy));
      expect((await call).origin).toBe('store');
      clock.advance(1000);
    }
  });

  it('not for a first call that takes a millisecond to be sent', async () => {
    const { limiter, store, clock } = open({ p: BIG });
    void limiter.consume({ p: 'k' });
    clock.advance(1);
    expect((await store.checked()).asked.cost).toBe(1);
  });

  it('by each of two limiters on one store for itself', async () => {
    const a = open({ p: SMALL });
    const b = createLimiter({ policies: { p: SMALL }, store: a.store, clock: a.clock });
    together(a.limiter, 10);
    const ofA = await a.store.claimed();
    together(b, 10);
    const ofB = await a.store.claimed();
    expect(ofA.asked.holder).not.toBe(ofB.asked.holder);
    await ofA.answer(grantOf(ofA.asked));
    expect(b.tryConsume({ p: 'k' })).toBeUndefined();
    expect(origins(spend(a, 5))).toEqual(five);
  });
});

describe('what is held', () => {
  it('is spent for 95 % of its life from when the claim was sent', async () => {
    const replica = await openWarm(SMALL, { answerAfterMs: 40, lifeMs: 800 });
    replica.clock.advance(800 * 0.95 - 40 - 2);
    expect(origins(spend(replica, 1))).toEqual(['lease']);
    replica.clock.advance(1);
    expect(spend(replica, 1)).toEqual([undefined]);
  });

  it('goes back with the first claim after its time', async () => {
    const replica = await openWarm();
    spend(replica, 2);
    replica.clock.advance(950);
    void replica.limiter.consume({ p: 'k' });
    const { asked } = await replica.store.claimed();
    expect(asked.reports).toEqual([{ epoch: 1, spent: 2, returned: 3 }]);
  });

  it('goes back on close', async () => {
    const replica = await openWarm();
    spend(replica, 2);
    const closed = replica.limiter.close();
    const claim = await replica.store.claimed();
    expect(claim.asked).toMatchObject({ costs: [], extra: 0 });
    expect(claim.asked.reports).toEqual([{ epoch: 1, spent: 2, returned: 3 }]);
    await claim.answer(grantOf(claim.asked));
    await closed;
  });

  it('is of one epoch under the latest deadline, and told once', async () => {
    const replica = await openWarm();
    spend(replica, 5);
    replica.clock.advance(500);
    await warm(replica);
    replica.clock.advance(900);
    expect(origins(spend(replica, 5))).toEqual(five);
    void replica.limiter.close();
    const { asked } = await replica.store.claimed();
    expect(asked.reports).toEqual([{ epoch: 1, spent: 5, returned: 0 }]);
  });

  it('is forgotten on reset', async () => {
    const replica = await openWarm();
    await replica.limiter.reset({ p: 'k' });
    expect(spend(replica, 1)).toEqual([undefined]);
    await replica.limiter.close();
    expect(await replica.store.unseen()).toBe(0);
  });

  it('does not decide a cost of 0', async () => {
    const replica = await openWarm();
    const peek = replica.limiter.peek({ p: 'k' });
    const check = await replica.store.checked();
    expect(check.asked.cost).toBe(0);
    await check.answer(fits(check.asked.policy, 3));
    expect(await peek).toMatchObject({ origin: 'store', remaining: 3 });
  });

  it('bears the store’s time of its grant, for a refund', async () => {
    const replica = await openWarm();
    replica.clock.advance(500);
    const [decision] = spend(replica, 1);
    expect(decision?.decidedAtMs).toBe(STORE_MS);
  });
});

describe('a denial is remembered', () => {
  it.each([
    { policy: 'leased', fitsAfterMs: 20, untilMs: 60, toldMs: 60 },
    { policy: 'leased', fitsAfterMs: 300, untilMs: 300, toldMs: 300 },
    { policy: 'leased', fitsAfterMs: 5000, untilMs: 1000, toldMs: 5000 },
    { policy: 'not leased', fitsAfterMs: 20, untilMs: 20, toldMs: 20 },
    { policy: 'not leased', fitsAfterMs: 5000, untilMs: 1000, toldMs: 5000 },
  ])('for $untilMs ms where a permit fits after $fitsAfterMs ms, $policy', async (row) => {
    const policy = row.policy === 'leased' ? NEVER_AHEAD : { limit: 10, window: '1s' };
    const { limiter, store, clock } = await openDenied(policy, row.fitsAfterMs);
    const again = () => limiter.tryConsume({ p: 'k' });
    expect(again()).toMatchObject({ allowed: false, origin: 'memory', retryAfterMs: row.toldMs });
    clock.advance(row.untilMs - 1);
    const waitMs = row.toldMs - row.untilMs + 1;
    expect(again()).toMatchObject({ allowed: false, origin: 'memory', retryAfterMs: waitMs });
    expect(await store.unseen()).toBe(0);
    clock.advance(1);
    expect(again()).toBeUndefined();
  });

  it('and asked about in the background a round trip before it ends', async () => {
    const replica = await openWarm(SMALL, { permits: 0, left: fits(SMALL_POLICY, 0) });
    replica.clock.advance(98);
    expect(origins(spend(replica, 20))).toEqual(Array(20).fill('memory'));
    expect(await replica.store.unseen()).toBe(0);
    replica.clock.advance(1);
    expect(origins(spend(replica, 1))).toEqual(['memory']);
    expect((await replica.store.claimed()).asked).toMatchObject({ costs: [], extra: 5 });
  });

  it('not for a smaller cost', async () => {
    const { limiter } = await openDenied(NEVER_AHEAD, 300, 5);
    expect(limiter.tryConsume({ p: 'k' }, { cost: 5 })).toMatchObject({ retryAfterMs: 300 });
    expect(limiter.tryConsume({ p: 'k' }, { cost: 4 })).toBeUndefined();
  });

  it('for a greater cost, which waits longer', async () => {
    const { limiter } = await openDenied(NEVER_AHEAD, 300, 5);
    expect(limiter.tryConsume({ p: 'k' }, { cost: 7 })).toMatchObject({ retryAfterMs: 500 });
    const never = limiter.tryConsume({ p: 'k' }, { cost: 11 });
    expect(never).toMatchObject({ allowed: false, retryAfterMs: undefined });
  });

  it('of a sliding window for the same cost alone', async () => {
    const { limiter } = await openDenied({ ...NEVER_AHEAD, algorithm: 'sliding-window' }, 300, 5);
    expect(limiter.tryConsume({ p: 'k' }, { cost: 5 })).toMatchObject({ retryAfterMs: 300 });
    expect(limiter.tryConsume({ p: 'k' }, { cost: 6 })).toBeUndefined();
  });

  it('under the values of the call that it was for', async () => {
    const { limiter } = await openDenied(NEVER_AHEAD, 300);
    const policies = { p: { limit: 20 } };
    expect(limiter.tryConsume({ p: 'k' }, { policies })).toBeUndefined();
  });

  it.each([
    { policy: 'leased', change: 'refund' },
    { policy: 'leased', change: 'settle' },
    { policy: 'leased', change: 'reset' },
    { policy: 'not leased', change: 'refund' },
    { policy: 'not leased', change: 'settle' },
    { policy: 'not leased', change: 'reset' },
  ])('until a $change by this replica, $policy', async ({ policy, change }) => {
    const options = policy === 'leased' ? NEVER_AHEAD : { limit: 10, window: '1s' };
    const { limiter } = await openDenied(options, 300);
    expect(limiter.tryConsume({ p: 'k' })?.origin).toBe('memory');
    if (change === 'refund') await limiter.refund({ p: 'k' });
    if (change === 'settle') await limiter.settle({ p: 'k' }, { estimate: 2, cost: 1 });
    if (change === 'reset') await limiter.reset({ p: 'k' });
    expect(limiter.tryConsume({ p: 'k' })).toBeUndefined();
  });

  it('of a shadow policy as one that would have been', async () => {
    const { limiter } = await openDenied({ ...NEVER_AHEAD, shadow: true }, 300);
    const again = limiter.tryConsume({ p: 'k' });
    expect(again).toMatchObject({ allowed: true, wouldDeny: true, origin: 'memory' });
  });
});

describe('a grant that is short', () => {
  it('because nothing is left: spent, then denied from memory until a permit is there', async () => {
    const replica = await openWarm(SMALL, { permits: 2, left: fits(SMALL_POLICY, 0) });
    expect(origins(spend(replica, 3))).toEqual(['lease', 'lease', 'memory']);
    expect(spend(replica, 1)).toMatchObject([{ allowed: false, retryAfterMs: 100 }]);
    expect(await replica.store.unseen()).toBe(0);
    replica.clock.advance(98);
    spend(replica, 1);
    expect(await replica.store.unseen()).toBe(0);
    replica.clock.advance(2);
    expect(spend(replica, 1)).toEqual([undefined]);
  });

  it('because others hold the share: calls go to the store', async () => {
    const replica = await openWarm(SMALL, { permits: 0, left: fits(SMALL_POLICY, 5) });
    expect(spend(replica, 1)).toEqual([undefined]);
    void replica.limiter.consume({ p: 'k' });
    expect((await replica.store.claimed()).asked.costs).toEqual([1]);
  });

  it('because others hold the share: nothing is asked in advance before the pace', async () => {
    const replica = await openWarm(SMALL, { permits: 1, left: fits(SMALL_POLICY, 5) });
    spend(replica, 1);
    replica.clock.advance(59);
    spend(replica, 1);
    expect(await replica.store.unseen()).toBe(0);
  });
});

describe('an answer', () => {
  it('that is void: the calls are asked for again, in their order, what was told is not', async () => {
    const replica = await openWarm();
    const { limiter, store } = replica;
    spend(replica, 3);
    const calls = [limiter.consume({ p: 'k' }, { cost: 4 })];
    const lost = await store.claimed();
    calls.push(limiter.consume({ p: 'k' }, { cost: 3 }));
    await lost.answer(undefined);
    const again = await store.claimed();
    expect(lost.asked).toMatchObject({ costs: [4], reports: [{ epoch: 1, spent: 3 }] });
    expect(again.asked).toMatchObject({ costs: [4, 3], reports: [] });
    expect(again.asked.turn).toBeGreaterThan(lost.asked.turn);
    await again.answer(grantOf(again.asked));
    expect(origins(await Promise.all(calls))).toEqual(['store', 'store']);
  });

  it('that is a failure rejects those that wait, and what was told is not told again', async () => {
    const replica = await openWarm();
    const { limiter, store } = replica;
    spend(replica, 3);
    const call = limiter.consume({ p: 'k' }, { cost: 4 });
    const lost = await store.claimed();
    const later = limiter.consume({ p: 'k' }, { cost: 3 });
    const rejected = expect(call).rejects.toThrow('cut off');
    await lost.fail(new Error('cut off'));
    await rejected;
    const next = await store.claimed();
    expect(next.asked).toMatchObject({ costs: [3], reports: [] });
    await next.answer(grantOf(next.asked));
    expect((await later).origin).toBe('store');
  });

  it('that never comes is awaited for the ttl', async () => {
    const { limiter, store, clock } = open({ p: SMALL });
    together(limiter, 10);
    await store.claimed();
    const calls = [limiter.consume({ p: 'k' })];
    clock.advance(999);
    calls.push(limiter.consume({ p: 'k' }));
    expect(await store.unseen()).toBe(0);
    clock.advance(1);
    calls.push(limiter.consume({ p: 'k' }));
    const claim = await store.claimed();
    expect(claim.asked.costs).toEqual([1, 1, 1]);
    await claim.answer(grantOf(claim.asked));
    expect(origins(await Promise.all(calls))).toEqual(['store', 'store', 'store']);
  });

  it('that is late still counts from when its claim was sent', async () => {
    const replica = open({ p: SMALL });
    const [call] = together(replica.limiter, 10);
    const late = await replica.store.claimed();
    replica.clock.advance(960);
    await late.answer(grantOf(late.asked));
    expect((await call)?.allowed).toBe(true);
    expect(spend(replica, 1)).toEqual([undefined]);
  });

  it('comes for all calls that were made before close, then what is left goes back', async () => {
    const { limiter, store } = open({ p: SMALL });
    const calls = together(limiter, 10);
    const first = await store.claimed();
    calls.push(limiter.consume({ p: 'k' }, { cost: 8 }));
    const closed = limiter.close();
    await first.answer(grantOf(first.asked));
    const second = await store.claimed();
    const reports = [{ epoch: 1, spent: 0, returned: 5 }];
    expect(second.asked).toMatchObject({ costs: [8], reports, extra: 0 });
    await second.answer(grantOf(second.asked));
    await closed;
    expect(new Set(origins(await Promise.all(calls)))).toEqual(new Set(['store']));
  });
});

it('calls with values of their own are asked for by these, one claim after the other', async () => {
  const { limiter, store } = open({ p: SMALL });
  const policies = { p: { limit: 40 } };
  const calls = [...together(limiter, 10), limiter.consume({ p: 'k' }, { cost: 30, policies })];
  for (const limit of [10, 40]) {
    const claim = await store.claimed();
    expect(claim.asked.policy.limit).toBe(limit);
    await claim.answer(grantOf(claim.asked));
  }
  const limits = (await Promise.all(calls)).map(({ limit }) => limit);
  expect([...new Set(limits)]).toEqual([10, 40]);
  expect(limits.at(-1)).toBe(40);
});

describe('a call under several policies', () => {
  const keys = { p: 'k', q: 'k' };

  it('is decided at once where all are held', async () => {
    const replica = open({ p: SMALL, q: SMALL });
    await warm(replica);
    await warm(replica, { policy: 'q' });
    const decision = replica.limiter.tryConsume(keys);
    expect(decision).toMatchObject({ allowed: true, origin: 'lease' });
    expect(decision?.each).toHaveLength(2);
    expect(origins(spend(replica, 5))).toEqual([...five.slice(1), undefined]);
    expect(origins(spend(replica, 5, 'q'))).toEqual([...five.slice(1), undefined]);
  });

  it('spends nothing of one lease where another is not held', async () => {
    const replica = open({ p: SMALL, q: SMALL });
    await warm(replica);
    expect(replica.limiter.tryConsume(keys)).toBeUndefined();
    expect(origins(spend(replica, 5))).toEqual(five);
  });

  it('asks for a cost of 0 what is held, too', async () => {
    const replica = open({ p: SMALL, q: SMALL });
    await warm(replica);
    void replica.limiter.peek(keys);
    const { asked } = await replica.store.checkedAll();
    expect(asked.map(({ policy }) => policy.name)).toEqual(['p', 'q']);
  });

  it('spends nothing where a remembered denial decides', async () => {
    const replica = open({ p: SMALL, q: { limit: 1, window: '1h' } });
    await warm(replica);
    void replica.limiter.consume({ q: 'k' });
    const check = await replica.store.checked();
    await check.answer(doesNotFit(check.asked.policy, 500));
    const denied = replica.limiter.tryConsume(keys);
    expect(denied).toMatchObject({ allowed: false, policy: 'q', retryAfterMs: 500 });
    expect(origins(spend(replica, 5))).toEqual(five);
  });

  it.each([
    { answer: 'fits', left: 4 },
    { answer: 'does not fit', left: 5 },
    { answer: 'fails', left: 5 },
  ])('asks for the others; $answer: $left of 5 permits are left', async ({ answer, left }) => {
    const replica = open({ p: SMALL, q: SMALL });
    await warm(replica);
    const call = replica.limiter.consume(keys).catch(() => undefined);
    const check = await replica.store.checkedAll();
    expect(check.asked.map(({ policy }) => policy.name)).toEqual(['q']);
    const { policy } = check.asked[0] as Charge;
    expect(origins(spend(replica, 5))).toEqual([...five.slice(1), undefined]);
    if (answer === 'fits') await check.answer([fits(policy)]);
    if (answer === 'does not fit') await check.answer([doesNotFit(policy, 500)]);
    if (answer === 'fails') await check.fail(new Error('cut off'));
    expect((await call)?.allowed).toBe({ fits: true, 'does not fit': false }[answer]);
    expect(origins(spend(replica, left - 4))).toEqual(five.slice(4, left));
    expect(spend(replica, 1)).toEqual([undefined]);
  });

  it('bears the time of the grant that it is spent from, where an older one is over', async () => {
    const replica = open({ p: SMALL, q: SMALL });
    const { limiter, store, clock } = replica;
    await warm(replica);
    spend(replica, 3);
    clock.advance(50);
    const left = { ...fits(SMALL_POLICY), decidedAtMs: STORE_MS + 50 };
    await warm(replica, { epoch: 2, left });
    clock.advance(905);
    const call = limiter.consume(keys);
    const check = await store.checkedAll();
    await check.answer([fits((check.asked[0] as Charge).policy)]);
    const { each } = await call;
    expect(each?.[0]).toMatchObject({ origin: 'lease', decidedAtMs: STORE_MS + 50 });
  });

  it('does not tell of what it put aside before the store has decided', async () => {
    const replica = open({ p: SMALL, q: SMALL });
    await warm(replica);
    void replica.limiter.consume(keys);
    const check = await replica.store.checkedAll();
    spend(replica, 2);
    // A refund goes behind what there is to tell, also one of nothing.
    const tell = () => replica.limiter.refund({ p: 'k' }, { cost: 0 });
    await tell();
    expect((await replica.store.claimed()).asked.reports).toEqual([
      { epoch: 1, spent: 2, returned: 0 },
    ]);
    const { policy } = check.asked[0] as Charge;
    await check.answer([fits(policy)]);
    await tell();
    expect((await replica.store.claimed()).asked.reports).toEqual([
      { epoch: 1, spent: 1, returned: 0 },
    ]);
  });
});

describe('on the event loop', () => {
  /** The kinds of async resource that come into being while `run` runs. */
  function asyncResourcesOf(run: () => void): string[] {
    const kinds: string[] = [];
    const hook = createHook({ init: (_id, kind) => kinds.push(kind) }).enable();
    run();
    hook.disable();
    return kinds;
  }

  it('G8 a decision from a warm lease makes no promise, no timer and no call', async () => {
    const replica = await openWarm(BIG);
    const origin: (string | undefined)[] = [];
    const kinds = asyncResourcesOf(() => {
      for (let i = 0; i < 400; i++) origin.push(replica.limiter.tryConsume({ p: 'k' })?.origin);
    });
    expect(kinds).toEqual([]);
    expect(origin).toEqual(Array(400).fill('lease'));
    expect(await replica.store.unseen()).toBe(0);
  });

  it('G8 asking ahead makes one immediate for a claim, and nothing else', async () => {
    const replica = await openWarm(BIG);
    spend(replica, 496);
    expect(asyncResourcesOf(() => spend(replica, 4))).toEqual(['Immediate']);
    const claim = await replica.store.claimed();
    expect(asyncResourcesOf(() => spend(replica, 4))).toEqual([]);
    await claim.answer(grantOf(claim.asked));
    expect(asyncResourcesOf(() => spend(replica, 4))).toEqual([]);
  });

  it('G8 a denial from memory makes nothing either', async () => {
    const replica = await openDenied(NEVER_AHEAD, 300);
    const origin: (string | undefined)[] = [];
    const kinds = asyncResourcesOf(() => origin.push(...origins(spend(replica, 100))));
    expect(kinds).toEqual([]);
    expect(origin).toEqual(Array(100).fill('memory'));
  });
});

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
    const [a, b] = stores.map((store) => createLimiter({ policies, store, clock }));
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

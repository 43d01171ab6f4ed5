import { beforeEach, describe, expect, it } from 'vitest';
import type { Decision } from '../../src/decision/decision.js';
import { LocalDecisions } from '../../src/fallback/local-decisions.js';
import { Reconciler } from '../../src/fallback/reconciler.js';
import { type Policy, parsePolicy } from '../../src/policy/policy.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import type { Charge } from '../../src/store/store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { fits } from '../support/answered-store.js';
import { everyTurn } from '../support/virtual-time.js';

const POLICY: Policy = parsePolicy('p', { limit: 1000, window: '1h' }, '');
const QUICK: Policy = parsePolicy('q', { limit: 1000, window: '1s' }, '');

/** A payment that came, whose outcome a test tells. */
interface Payment {
  readonly charge: Charge;
  succeed(): Promise<void>;
  fail(): Promise<void>;
}

let clock: ManualClock;
let local: LocalDecisions;
let reconciler: Reconciler;
/** Those that were not looked at yet. */
let payments: Payment[];
let tooMuch: [key: string, cost: number][];
let done: [buckets: number, permits: number][];

beforeEach(() => {
  clock = new ManualClock();
  local = new LocalDecisions(memoryStore({ clock }), clock, 'local');
  payments = [];
  tooMuch = [];
  done = [];
  reconciler = open(
    (charge) =>
      new Promise((resolve, reject) => {
        const then = async (tell: () => void) => {
          tell();
          await everyTurn();
        };
        payments.push({
          charge,
          succeed: () => then(() => resolve(fits(charge.policy))),
          fail: () => then(() => reject(new Error('no answer'))),
        });
      }),
  );
});

function open(pay: (charge: Charge) => Promise<Decision>): Reconciler {
  return new Reconciler(
    local,
    pay,
    ({ key, cost }) => tooMuch.push([key, cost]),
    (buckets, permits) => done.push([buckets, permits]),
  );
}

function owe(cost: number, key = 'k', policy = POLICY): Charge {
  const charge = { policy, key, cost };
  local.decide([charge], 'timeout');
  return charge;
}

/** The payments that came since the last look. */
function paid(): [key: string, cost: number][] {
  return payments.map(({ charge: { key, cost } }) => [key, cost]);
}

function next(): Payment {
  const [first] = payments.splice(0, 1);
  if (first === undefined) throw new Error('no payment came');
  return first;
}

describe('a call of a bucket that something is owed to', () => {
  it('has all of it paid in the same turn, once, and of its bucket alone', () => {
    const charge = owe(3);
    owe(4);
    owe(5, 'other');
    reconciler.payFor([charge]);
    expect(paid()).toEqual([['k', 7]]);
    reconciler.payFor([charge]);
    expect(paid()).toHaveLength(1);
  });

  it('has what was owed since paid besides: each permit once', async () => {
    const charge = owe(3);
    reconciler.payFor([charge]);
    owe(4);
    reconciler.payFor([charge]);
    expect(paid()).toEqual([
      ['k', 3],
      ['k', 4],
    ]);
    await next().succeed();
    await next().succeed();
    expect(done).toEqual([[2, 7]]);
    reconciler.payFor([charge]);
    expect(payments).toEqual([]);
  });

  it('pays nothing where nothing is owed, nor where it has refilled', () => {
    reconciler.payFor([{ policy: POLICY, key: 'k', cost: 1 }]);
    const charge = owe(3, 'k', QUICK);
    clock.advance(1000);
    reconciler.payFor([charge]);
    expect(payments).toEqual([]);
    expect(local.owed.size).toBe(0);
  });
});

describe('a payment', () => {
  it('that fails is owed again', async () => {
    const charge = owe(3);
    reconciler.payFor([charge]);
    await next().fail();
    expect(local.owed.first(1)).toEqual([charge]);
    expect(done).toEqual([]);
    reconciler.payFor([charge]);
    expect(paid()).toEqual([['k', 3]]);
  });

  it('whose outcome is not known is not made again, by whatever comes by', async () => {
    const charge = owe(3);
    reconciler.payFor([charge]);
    next();
    reconciler.payFor([charge]);
    await reconciler.payAll();
    expect(payments).toEqual([]);
    expect(done).toEqual([]);
  });

  it('that throws has failed like one that rejects', async () => {
    const throwing = open(() => {
      throw new Error('closed');
    });
    const charge = owe(3);
    throwing.payFor([charge]);
    await everyTurn();
    expect(local.owed.first(1)).toEqual([charge]);
    await throwing.payAll();
    expect(local.owed.first(1)).toEqual([charge]);
  });
});

describe('a payment that is given up', () => {
  it('is owed again, and paid once more', async () => {
    const charge = owe(3);
    reconciler.payFor([charge]);
    next();
    reconciler.giveUp();
    expect(local.owed.first(1)).toEqual([charge]);
    void reconciler.payAll();
    expect(paid()).toEqual([['k', 3]]);
    await next().succeed();
    expect(done).toEqual([[1, 3]]);
    expect(tooMuch).toEqual([]);
  });

  it('and was heard after all is owed no more', async () => {
    reconciler.payFor([owe(3)]);
    const late = next();
    reconciler.giveUp();
    await late.succeed();
    expect(local.owed.size).toBe(0);
    expect(tooMuch).toEqual([['k', 0]]);
  });

  it('and was heard when it had been paid again is given back', async () => {
    const charge = owe(3);
    reconciler.payFor([charge]);
    const late = next();
    reconciler.giveUp();
    reconciler.payFor([charge]);
    await next().succeed();
    await late.succeed();
    expect(tooMuch).toEqual([['k', 3]]);
  });

  it('and was heard when part of it is owed is given back but for that part', async () => {
    const charge = owe(3);
    reconciler.payFor([charge]);
    const late = next();
    reconciler.giveUp();
    reconciler.payFor([charge]);
    next();
    owe(1);
    await late.succeed();
    expect(tooMuch).toEqual([['k', 2]]);
    expect(local.owed.size).toBe(0);
  });

  it('and fails after that changes nothing', async () => {
    reconciler.payFor([owe(3)]);
    const late = next();
    reconciler.giveUp();
    await late.fail();
    expect(local.owed.first(1)[0]?.cost).toBe(3);
    expect(tooMuch).toEqual([]);
  });

  it('twice is owed once', () => {
    reconciler.payFor([owe(3)]);
    reconciler.giveUp();
    reconciler.giveUp();
    expect(local.owed.first(1)[0]?.cost).toBe(3);
  });

  it('is not one that was made since', async () => {
    reconciler.payFor([owe(3)]);
    await next().succeed();
    reconciler.giveUp();
    expect(local.owed.size).toBe(0);
    expect(done).toEqual([[1, 3]]);
  });
});

describe('paying all', () => {
  it('pays every bucket, 500 at a time, and tells the sums once', async () => {
    for (let i = 0; i < 1100; i++) owe(2, `k${i}`);
    const all = reconciler.payAll();
    for (const count of [500, 500, 100]) {
      expect(payments).toHaveLength(count);
      expect(done).toEqual([]);
      for (const payment of payments.splice(0)) await payment.succeed();
    }
    await all;
    expect(done).toEqual([[1100, 2200]]);
    expect(local.owed.size).toBe(0);
  });

  it('goes on with a piece when all of the one before is known', async () => {
    for (let i = 0; i < 501; i++) owe(1, `k${i}`);
    void reconciler.payAll();
    const last = payments.pop();
    for (const payment of payments.splice(0)) await payment.succeed();
    expect(payments).toEqual([]);
    await last?.succeed();
    expect(paid()).toEqual([['k500', 1]]);
  });

  it('stops where a payment fails, and leaves the rest owed', async () => {
    for (let i = 0; i < 501; i++) owe(1, `k${i}`);
    const all = reconciler.payAll();
    await payments.splice(7, 1)[0]?.fail();
    for (const payment of payments.splice(0)) await payment.succeed();
    await all;
    expect(payments).toEqual([]);
    expect(local.owed.first(9).map(({ key }) => key)).toEqual(['k500', 'k7']);
    expect(done).toEqual([]);
    void reconciler.payAll();
    await next().succeed();
    await next().succeed();
    expect(done).toEqual([[501, 501]]);
  });

  it('is done once at a time; whoever asks meanwhile waits for that', async () => {
    owe(1);
    let ended = 0;
    const runs = [reconciler.payAll(), reconciler.payAll()].map((run) => run.then(() => ended++));
    expect(payments).toHaveLength(1);
    await everyTurn();
    expect(ended).toBe(0);
    await next().succeed();
    await Promise.all(runs);
    expect(payments).toEqual([]);
  });

  it('begins anew at once where what it waited for is given up', async () => {
    owe(1);
    void reconciler.payAll();
    next();
    reconciler.giveUp();
    void reconciler.payAll();
    await everyTurn();
    expect(paid()).toEqual([['k', 1]]);
  });

  it('tells the sums also where the last bucket has refilled', async () => {
    for (let i = 0; i < 500; i++) owe(1, `k${i}`);
    owe(1, 'last', QUICK);
    const all = reconciler.payAll();
    clock.advance(1000);
    for (const payment of payments.splice(0)) await payment.succeed();
    await all;
    expect(local.owed.size).toBe(0);
    expect(done).toEqual([[500, 500]]);
  });

  it('tells nothing where nothing was to be paid', async () => {
    await reconciler.payAll();
    owe(1, 'k', QUICK);
    clock.advance(1000);
    await reconciler.payAll();
    expect(local.owed.size).toBe(0);
    expect(done).toEqual([]);
  });

  it('counts anew after each time', async () => {
    for (const cost of [3, 5]) {
      owe(cost);
      void reconciler.payAll();
      await next().succeed();
    }
    expect(done).toEqual([
      [1, 3],
      [1, 5],
    ]);
  });
});

import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Deadlines, Pending } from '../../src/fallback/deadlines.js';
import { monotonicClock } from '../../src/time/clock.js';
import { collectGarbage } from '../support/collect-garbage.js';
import { SteppedTime } from '../support/stepped-time.js';
import { everyTurn } from '../support/virtual-time.js';

const MS = 5;

let time: SteppedTime;
let deadlines: Deadlines;
/** What was given up, and how long after the test began. */
let givenUp: [name: string, afterMs: number][];

class Named extends Pending {
  readonly giveUp: () => void;

  constructor(name: string, startMs: number) {
    super();
    this.giveUp = () => givenUp.push([name, time.clock.nowMs() - startMs]);
  }
}

let startMs: number;

beforeEach(() => {
  time = new SteppedTime();
  deadlines = new Deadlines(MS, time.clock);
  givenUp = [];
  startMs = time.clock.nowMs();
});
afterEach(() => time.end());

function add(name: string): Pending {
  const pending = new Named(name, startMs);
  deadlines.add(pending);
  return pending;
}

describe('what is not settled', () => {
  it('is given up when its time is over, once, and not before', async () => {
    const pending = add('a');
    await time.pass(MS - 1);
    expect(givenUp).toEqual([]);
    expect(pending.isSettled).toBe(false);
    await time.pass(1);
    expect(givenUp).toEqual([['a', 5]]);
    expect(pending.isSettled).toBe(true);
    await time.pass(50);
    expect(givenUp).toHaveLength(1);
  });

  it('is given up in the order it came, each at its own time', async () => {
    add('a');
    add('b');
    await time.pass(2);
    add('c');
    await time.pass(2);
    add('d');
    await time.pass(20);
    expect(givenUp).toEqual([
      ['a', 5],
      ['b', 5],
      ['c', 7],
      ['d', 9],
    ]);
  });

  it('is given up also where what came before it was settled, and what came after', async () => {
    const first = add('first');
    await time.pass(1);
    add('second');
    await time.pass(1);
    const third = add('third');
    first.isSettled = true;
    third.isSettled = true;
    await time.pass(20);
    expect(givenUp).toEqual([['second', 6]]);
  });

  it('is given up also where the line was empty for long', async () => {
    add('a').isSettled = true;
    await time.pass(100);
    add('b');
    await time.pass(5);
    expect(givenUp).toEqual([['b', 105]]);
  });

  it('may add another as it is given up', async () => {
    const pending = new (class extends Pending {
      giveUp(): void {
        add('again');
      }
    })();
    deadlines.add(pending);
    await time.pass(MS);
    expect(givenUp).toEqual([]);
    await time.pass(MS);
    expect(givenUp).toEqual([['again', 10]]);
  });
});

describe('what is settled', () => {
  it('in its last millisecond is not given up', async () => {
    const pending = add('a');
    await time.pass(MS - 1);
    pending.isSettled = true;
    await time.pass(50);
    expect(givenUp).toEqual([]);
  });

  it('between the timer and the reading of sockets behind it is not given up', async () => {
    const pending = add('a');
    await time.pass(MS - 1);
    time.clock.advance(1);
    vi.advanceTimersByTime(1);
    pending.isSettled = true;
    await everyTurn();
    expect(givenUp).toEqual([]);
  });

  it('by another that is given up is not given up', async () => {
    const second = new Named('second', startMs);
    const first = new (class extends Pending {
      giveUp(): void {
        givenUp.push(['first', MS]);
      }
    })();
    deadlines.add(first);
    deadlines.add(second);
    first.isSettled = true;
    second.isSettled = true;
    await time.pass(MS);
    expect(givenUp).toEqual([]);
  });
});

describe('a turn of the event loop that takes long', () => {
  it('takes nothing off: what was asked in it goes out at its end', async () => {
    add('a');
    time.clock.advance(MS + 1);
    add('b');
    vi.advanceTimersByTime(MS + 1);
    await time.pass(MS - 1);
    expect(givenUp).toEqual([]);
    await time.pass(1);
    expect(givenUp).toEqual([
      ['a', 11],
      ['b', 11],
    ]);
  });

  it('puts off nothing that was asked before it', async () => {
    add('before');
    await time.pass(1);
    time.clock.advance(2);
    vi.advanceTimersByTime(2);
    add('in it');
    await time.pass(10);
    expect(givenUp).toEqual([
      ['before', 5],
      ['in it', 8],
    ]);
  });
});

describe('a stall', () => {
  it.each([
    [1, 6],
    [2, 7],
  ])('of %i ms is none: such is how timers are', async (lateMs, atMs) => {
    add('a');
    await time.pass(MS - 1);
    await time.stall(1 + lateMs);
    expect(givenUp).toEqual([['a', atMs]]);
  });

  it.each([
    [3, 8 + 3],
    [4, 9 + 4],
    [5, 10 + 5],
    [6, 11 + 5],
    [10_000, 10_005 + 5],
  ])('of %i ms postpones by as much, and at most by the whole time', async (lateMs, atMs) => {
    const pending = add('a');
    await time.pass(MS - 1);
    await time.stall(1 + lateMs);
    expect(pending.isSettled).toBe(false);
    await time.pass(atMs - (MS + lateMs) - 1);
    expect(givenUp).toEqual([]);
    await time.pass(1);
    expect(givenUp).toEqual([['a', atMs]]);
  });

  it('postpones once', async () => {
    add('a');
    await time.pass(MS - 1);
    await time.stall(5);
    expect(givenUp).toEqual([]);
    await time.stall(100);
    expect(givenUp).toEqual([['a', 109]]);
  });

  it('keeps the order in which they came, also where another is due at the same time', async () => {
    add('a');
    add('b');
    await time.pass(MS - 1);
    time.clock.advance(6);
    add('in the stall');
    vi.advanceTimersByTime(6);
    await time.pass(20);
    expect(givenUp).toEqual([
      ['a', 15],
      ['b', 15],
      ['in the stall', 15],
    ]);
  });

  it('postpones each by as much as it was late itself', async () => {
    add('a');
    await time.pass(1);
    add('b');
    await time.pass(MS - 2);
    await time.stall(6);
    await time.pass(20);
    expect(givenUp).toEqual([
      ['b', 14],
      ['a', 15],
    ]);
  });

  it('holds nothing against what came after it', async () => {
    add('a');
    await time.pass(MS - 1);
    await time.stall(20);
    add('b');
    await time.pass(4);
    expect(givenUp).toEqual([]);
    await time.pass(1);
    expect(givenUp).toEqual([
      ['a', 29],
      ['b', 29],
    ]);
  });

  it('does not give up what is settled while it is postponed', async () => {
    const pending = add('a');
    await time.pass(MS - 1);
    await time.stall(5);
    pending.isSettled = true;
    await time.pass(50);
    expect(givenUp).toEqual([]);
  });
});

describe('the timer', () => {
  it('is one for 10,000, and there is none when all is over', async () => {
    for (let i = 0; i < 100; i++) {
      for (let j = 0; j < 100; j++) add(`${i}`);
      await time.pass(1);
      expect(time.timers).toBe(1);
    }
    await time.pass(MS);
    expect(givenUp).toHaveLength(10_000);
    expect(givenUp.every(([name, atMs]) => atMs === Number(name) + MS)).toBe(true);
    expect(time.timers).toBe(0);
  });

  it('is not set for what is settled within its turn', async () => {
    add('a').isSettled = true;
    await time.pass(0);
    expect(time.timers).toBe(0);
  });

  it('keeps the process alive for no longer than the turn', async () => {
    time.end();
    const own = new Deadlines(60_000, monotonicClock);
    own.add(new Named('a', startMs));
    await everyTurn();
    const active = process.getActiveResourcesInfo();
    expect(active.filter((kind) => kind === 'Immediate')).toEqual([]);
    const before = active.filter((kind) => kind === 'Timeout').length;
    const timer = setTimeout(() => {}, 60_000);
    const after = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    clearTimeout(timer);
    expect([before, after]).toEqual([before, before + 1]);
    const withMore = new Deadlines(60_000, monotonicClock);
    withMore.add(new Named('b', startMs));
    await everyTurn();
    const now = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    expect(now).toBe(before);
  });

  it('runs outside the request that set it', async () => {
    const requests = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const own = new (class extends Pending {
      giveUp(): void {
        seen.push(requests.getStore());
      }
    })();
    requests.run('request', () => deadlines.add(own));
    await time.pass(MS);
    expect(seen).toEqual([undefined]);
  });
});

describe('memory', () => {
  /** How many of `count` that `make` adds are reachable, of each hundredth. */
  async function reachableOf(count: number, add: (i: number) => Pending | Promise<Pending>) {
    const held: WeakRef<Pending>[] = [];
    for (let i = 0; i < count; i++) {
      const pending = await add(i);
      if (i % 100 === 0) held.push(new WeakRef(pending));
    }
    await everyTurn();
    await collectGarbage();
    return held.filter((ref) => ref.deref() !== undefined).length;
  }

  it('holds none of 1,000,000 that are settled at once, though no time passes', async () => {
    const reachable = await reachableOf(1_000_000, async (i) => {
      const pending = add('a');
      pending.isSettled = true;
      if (i % 1000 === 0) await everyTurn();
      return pending;
    });
    expect(reachable).toBe(0);
  });

  it('holds few of 100,000 that are settled while one in front of them is not', async () => {
    add('waits');
    await everyTurn();
    let asked: Pending[] = [];
    const reachable = await reachableOf(100_000, async (i) => {
      const pending = add('a');
      asked.push(pending);
      if (i % 10 < 9) return pending;
      await everyTurn();
      for (const one of asked) one.isSettled = true;
      asked = [];
      return pending;
    });
    // Of each hundredth: some 500 are kept.
    expect(reachable).toBeLessThanOrEqual(6);
    await time.pass(MS);
    expect(givenUp.map(([name]) => name)).toEqual(['waits']);
  });

  it('holds none of those that were settled in time, when that is over', async () => {
    const refs = Array.from({ length: 10 }, () => new WeakRef(add('a')));
    await everyTurn();
    for (const ref of refs) (ref.deref() as Pending).isSettled = true;
    await time.pass(MS);
    await collectGarbage();
    expect(refs.filter((ref) => ref.deref() !== undefined)).toEqual([]);
  });

  it('holds nothing once all is settled', async () => {
    const reachable = await reachableOf(1000, (i) => {
      const pending = add('a');
      pending.isSettled = i % 2 === 0;
      return pending;
    });
    expect(reachable).toBe(0);
    await time.pass(MS);
    expect(givenUp).toHaveLength(500);
  });
});

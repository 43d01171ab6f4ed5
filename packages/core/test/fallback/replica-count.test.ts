import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  ASK_EVERY_MS,
  type ReplicaWatch,
  type WatchOptions,
  watchReplicas,
} from '../../src/fallback/replica-count.js';
import { collectGarbage } from '../support/collect-garbage.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
/** A watch goes on for as long as it is held. */
const held: ReplicaWatch[] = [];
afterEach(() => {
  for (const watch of held.splice(0)) watch.stop();
  vi.useRealTimers();
});

interface Told {
  readonly counts: number[];
  readonly failures: string[];
  readonly errors: Error[];
  /** What counted when each failure was told. */
  readonly kept: (number | undefined)[];
  readonly watch: ReplicaWatch;
}

function watch(source: unknown, isHeartbeat = false): Told {
  const counts: number[] = [];
  const errors: Error[] = [];
  const failures: string[] = [];
  const kept: (number | undefined)[] = [];
  const watch = watchReplicas({
    source: source as WatchOptions['source'],
    isHeartbeat,
    onCount: (count) => counts.push(count),
    onFailure: (error, count) => {
      errors.push(error);
      failures.push(error.message);
      kept.push(count);
    },
  });
  held.push(watch);
  return { counts, errors, failures, kept, watch };
}

/** A source that answers with these, one after the other; an error is thrown. */
function answering(...answers: unknown[]): () => Promise<unknown> {
  return async () => {
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
}

const nextTurn = () => vi.advanceTimersByTimeAsync(ASK_EVERY_MS);
const thisTurn = () => vi.advanceTimersByTimeAsync(0);

describe('a number', () => {
  it('is told at once, and nothing runs', () => {
    expect(watch(3).counts).toEqual([3]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a function', () => {
  it('is asked at once: what it says without a promise is told before that returns', () => {
    expect(watch(() => 4).counts).toEqual([4]);
  });

  it('is asked every 2 s, and each other value is told, also a lower one', async () => {
    const { counts, failures } = watch(answering(4, 4, 6, 2, 4));
    await thisTurn();
    expect(counts).toEqual([4]);
    await nextTurn();
    expect(counts).toEqual([4]);
    await nextTurn();
    expect(counts).toEqual([4, 6]);
    await nextTurn();
    await nextTurn();
    expect(counts).toEqual([4, 6, 2, 4]);
    expect(failures).toEqual([]);
  });

  it('is asked one question at a time, for 10 s; a later answer is ignored', async () => {
    const answers: ((count: number) => void)[] = [];
    const { counts, failures } = watch(() => new Promise((resolve) => answers.push(resolve)));
    for (let i = 0; i < 4; i++) await nextTurn();
    expect([answers.length, failures]).toEqual([1, []]);
    await nextTurn();
    expect(answers).toHaveLength(2);
    expect(failures).toEqual(['fallback.replicas() gave no answer within 10 s']);
    answers[0]?.(7);
    await thisTurn();
    expect(counts).toEqual([]);
    answers[1]?.(5);
    await thisTurn();
    expect(counts).toEqual([5]);
    await nextTurn();
    expect(answers).toHaveLength(3);
  });

  it('has as long for the second question as for the first', async () => {
    let asked = 0;
    const { failures } = watch(() => new Promise(() => asked++));
    for (let i = 0; i < 9; i++) await nextTurn();
    expect(asked).toBe(2);
    await nextTurn();
    expect(asked).toBe(3);
    expect(failures).toHaveLength(1);
  });

  it.each([
    [0, 'got 0'],
    [-1, 'got -1'],
    [1.5, 'got 1.5'],
    [Number.NaN, 'got NaN'],
    [Number.POSITIVE_INFINITY, 'got Infinity'],
    [2 ** 53, 'got 9007199254740992'],
    ['3', 'got "3"'],
    [null, 'got null'],
    [undefined, 'got undefined'],
    [{}, 'got an object'],
  ])('that gives %j has failed, with a promise and without', async (value, message) => {
    for (const source of [() => value, async () => value]) {
      const { counts, failures } = watch(source);
      await thisTurn();
      expect(counts).toEqual([]);
      expect(failures).toEqual([
        `fallback.replicas() must be an integer of at least 1, ${message}`,
      ]);
    }
  });

  it('that throws or rejects has failed, with the cause', async () => {
    const cause = new Error('no API server');
    const throwing = watch(() => {
      throw cause;
    });
    const rejecting = watch(() => Promise.reject(cause));
    const rejectingText = watch(() => Promise.reject('no reason'));
    await thisTurn();
    for (const { failures, errors } of [throwing, rejecting]) {
      expect(failures).toEqual(['fallback.replicas() failed: no API server']);
      expect(errors[0]?.cause).toBe(cause);
    }
    expect(rejectingText.failures).toEqual(['fallback.replicas() failed: no reason']);
  });

  it('keeps the last good value, and says where there is none', async () => {
    const { counts, kept } = watch(answering(new Error('a'), 3, new Error('b'), 3, 5));
    for (let i = 0; i < 5; i++) await nextTurn();
    // 3 is told once more: it is known again.
    expect(counts).toEqual([3, 3, 5]);
    expect(kept.slice(0, 2)).toEqual([undefined, 3]);
  });

  it('one failure is told once, until there is a good value or another failure', async () => {
    const down = new Error('down');
    const { failures } = watch(answering(down, down, 0, 0, down, 2, down));
    for (let i = 0; i < 6; i++) await nextTurn();
    expect(failures.map((failure) => failure.slice(-5))).toEqual([
      ' down',
      'got 0',
      ' down',
      ' down',
    ]);
  });
});

describe('heartbeats', () => {
  it('a rise is believed at once, a fall when four in a row say so', async () => {
    const { counts } = watch(answering(3, 5, 1, 2, 4, 4, 4, 6, 6), true);
    const seen: (number | undefined)[] = [];
    await thisTurn();
    seen.push(counts.at(-1));
    for (let i = 0; i < 8; i++) {
      await nextTurn();
      seen.push(counts.at(-1));
    }
    expect(seen).toEqual([3, 5, 5, 5, 5, 4, 4, 6, 6]);
    expect(counts).toEqual([3, 5, 4, 6]);
  });

  it('what failed says nothing of the number', async () => {
    const down = new Error('down');
    const { counts } = watch(answering(5, down, down, down, down, down, 1, 1, 1, 1), true);
    for (let i = 0; i < 8; i++) await nextTurn();
    expect(counts).toEqual([5, 5]);
    await nextTurn();
    expect(counts).toEqual([5, 5, 1]);
  });

  it('an error names the store', async () => {
    const { failures } = watch(answering(new Error('down'), 0), true);
    await nextTurn();
    expect(failures).toEqual([
      'store.heartbeat() failed: down',
      'store.heartbeat() must be an integer of at least 1, got 0',
    ]);
  });
});

describe('what was stopped', () => {
  it('asks no more, and an answer on its way is not told', async () => {
    const answers: ((count: number) => void)[] = [];
    const {
      counts,
      failures,
      watch: stopped,
    } = watch(() => new Promise((resolve) => answers.push(resolve)));
    stopped.stop();
    stopped.stop();
    answers[0]?.(3);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([answers.length, counts, failures]).toEqual([1, [], []]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('who made it', () => {
  /** As a limiter does: it holds the watch, and what the watch calls holds it. */
  class Owner {
    count = 0;
    readonly watch: ReplicaWatch;

    constructor(source: WatchOptions['source']) {
      this.watch = watchReplicas({
        source,
        isHeartbeat: false,
        onCount: (count) => {
          this.count = count;
        },
        onFailure: () => {
          this.count = 0;
        },
      });
    }
  }

  it.each([
    ['no question is under way', () => 3],
    ['one is answered', async () => 3],
    ['one is never answered', () => forever],
  ])('can be collected where %s, and then nothing runs', async (_, source) => {
    const owner = (() => new WeakRef(new Owner(source)))();
    await nextTurn();
    await collectGarbage();
    expect(owner.deref()).toBeUndefined();
    expect(vi.getTimerCount()).toBe(1);
    await nextTurn();
    expect(vi.getTimerCount()).toBe(0);
  });
  /** Held by this module, as a client holds what it waits for. */
  const forever = new Promise<number>(() => {});

  it('goes on while it is held', async () => {
    let asked = 0;
    const owner = new Owner(() => ++asked);
    await collectGarbage();
    await nextTurn();
    expect(owner.count).toBe(2);
    owner.watch.stop();
  });

  it('does not lend its async context to the questions', async () => {
    const requests = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    requests.run('a request', () =>
      watch(async () => {
        seen.push(requests.getStore());
        return 1;
      }),
    );
    await nextTurn();
    expect(seen).toEqual([undefined, undefined]);
  });

  it('the process need not stay for it', () => {
    vi.useRealTimers();
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout');
    const before = timers().length;
    watch(() => forever);
    expect(timers()).toHaveLength(before);
  });
});

import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Gate, type Verdict } from '../../src/http/gate.js';
import type { RateLimitOptions } from '../../src/http/options.js';
import { createLimiter } from '../../src/limiter/limiter.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { readerOf } from './gates.js';
import { forgetWarnings } from './warnings.js';

let warnings: string[];
beforeEach(() => {
  forgetWarnings();
  warnings = [];
  const note = (text: string | Error, details?: unknown): void => {
    warnings.push(`${(details as { code: string }).code}: ${text}`);
  };
  vi.spyOn(process, 'emitWarning').mockImplementation(note as typeof process.emitWarning);
});
afterEach(() => void vi.restoreAllMocks());

type Options = Partial<RateLimitOptions<object>>;

/** An app with a limit of 10 per minute, or with these policies, all charged to one client. */
function open(options: Options, policies: Record<string, object> = { p: {} }) {
  const clock = new ManualClock();
  const named = Object.entries(policies).map(([name, own]) => [
    name,
    { limit: 10, window: '60s', ...own },
  ]);
  const store = memoryStore({ clock });
  const limiter = createLimiter({ store, policies: Object.fromEntries(named) });
  const keys = Object.fromEntries(Object.keys(policies).map((name) => [name, 'ann']));
  const all = { limiter, keys: () => keys, ...options } as RateLimitOptions<object>;
  const reader = readerOf<object>(() => undefined);
  const gate = new Gate<object>(all, reader);
  const judge = (request: object = {}): Verdict => gate.judge(request) as Verdict;
  return {
    clock,
    limiter,
    judge,
    /** A request whose response ends so. */
    async end(status: number | undefined, request: object = {}): Promise<void> {
      judge(request).onEnd?.({ status });
      await turn();
    },
    /** What each policy has spent. */
    async used(): Promise<number[]> {
      const { each, ...one } = await limiter.peek(keys);
      return (each ?? [one]).map(({ limit, remaining }) => limit - remaining);
    },
  };
}

describe('F-07 refundWhen', () => {
  const ENDS = [200, 204, 304, 399, 400, 404, 429, 500, 503, undefined];

  it.each([
    ['failed', [200, 204, 304, 399]],
    ['successful', [400, 404, 429, 500, 503, undefined]],
  ] as const)('%s leaves charged what is not', async (refundWhen, charged) => {
    const left: (number | undefined)[] = [];
    for (const status of ENDS) {
      const app = open({ refundWhen });
      await app.end(status);
      if ((await app.used())[0] === 1) left.push(status);
    }
    expect(left).toEqual(charged);
    expect(warnings).toEqual([]);
  });

  it('failed: three of 200, one left by the client, one 500 are three', async () => {
    const app = open({ refundWhen: 'failed' });
    for (const status of [200, 200, 200]) await app.end(status);
    expect(await app.used()).toEqual([3]);
    for (const status of [undefined, 500]) await app.end(status);
    expect(await app.used()).toEqual([3]);
  });

  it.each([
    ['at once', (status: unknown) => status === 404],
    ['later', async (status: unknown) => status === 404],
  ])('a function is told the response and the request, %s', async (_, choose) => {
    const refundWhen = vi.fn(({ status }: { status: number | undefined }, _: object) =>
      choose(status),
    );
    const app = open({ refundWhen });
    const request = {};
    await app.end(404, request);
    await app.end(500);
    await app.end(200);
    expect(await app.used()).toEqual([2]);
    expect(refundWhen).toHaveBeenCalledTimes(3);
    expect(refundWhen.mock.calls[0]?.[0]).toEqual({ status: 404 });
    expect(refundWhen.mock.calls[0]?.[1]).toBe(request);
  });

  it('gives back the whole cost, of each policy, by the values that were in force', async () => {
    const policies = () => ({ b: { limit: 20 } });
    const app = open({ refundWhen: 'failed', cost: { a: 4, b: 7 }, policies }, { a: {}, b: {} });
    await app.end(200);
    expect(await app.used()).toEqual([4, 7]);
    await app.end(500);
    expect(await app.used()).toEqual([4, 7]);
  });

  it('nothing comes back of what was denied, or only watched', async () => {
    const app = open({ refundWhen: 'failed', cost: 6 });
    await app.end(200);
    expect(app.judge()).toMatchObject({ onEnd: undefined, decision: { allowed: false } });
    expect(await app.used()).toEqual([6]);

    const watching = open(
      { refundWhen: 'failed', cost: 6 },
      { a: { shadow: true }, b: { limit: 99 } },
    );
    await watching.end(200);
    await watching.end(500);
    expect(await watching.used()).toEqual([6, 6]);
  });

  it('nothing comes back into a later window', async () => {
    const app = open({ refundWhen: 'failed' }, { p: { algorithm: 'fixed-window' } });
    const early = app.judge();
    app.clock.advance(60_000);
    await app.end(200);
    early.onEnd?.({ status: 500 });
    await turn();
    expect(await app.used()).toEqual([1]);
  });

  it('nothing waits for the response where nothing depends on it', () => {
    expect(open({}).judge().onEnd).toBeUndefined();
    expect(open({ refundWhen: 'failed' }).judge().onEnd).toBeTypeOf('function');
    expect(open({ settle: () => undefined }).judge().onEnd).toBeTypeOf('function');
  });
});

describe('settle', () => {
  it.each([
    ['more', 5, 5],
    ['less', 1, 1],
    ['nothing', 0, 0],
    ['as much', 2, 2],
    ['what is not said', undefined, 2],
  ])('%s', async (_, trueCost, used) => {
    for (const settle of [() => trueCost, async () => trueCost]) {
      const app = open({ cost: 2, settle });
      await app.end(200);
      expect(await app.used()).toEqual([used]);
    }
    expect(warnings).toEqual([]);
  });

  it('may go below zero, as far as the policy lets it', async () => {
    const app = open({ settle: () => 15 });
    await app.end(200);
    const decision = app.judge().decision;
    // 10 − 15 − 1: six short, one every 6 s.
    expect(decision).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 36_000 });
  });

  it.each([
    ['all of them', 5, [5, 5, 5]],
    ['each', { a: 2, b: 6, c: 0 }, [2, 6, 0]],
    ['one; the others stay as they were charged', { b: 6 }, [4, 6, 4]],
    ['none', {}, [4, 4, 4]],
    ['one that is not said', { a: undefined, b: 6 }, [4, 6, 4]],
  ])('of several policies: %s', async (_, trueCost, used) => {
    const policies = { a: {}, b: {}, c: {} };
    for (const cost of [4, { a: 4, b: 4, c: 4 }]) {
      const app = open({ cost, settle: () => trueCost }, policies);
      await app.end(200);
      expect(await app.used()).toEqual(used);
    }
    expect(warnings).toEqual([]);
  });

  it('a policy that a cost by policy leaves out was charged 1', async () => {
    const app = open({ cost: { a: 4 }, settle: () => ({ a: 5 }) }, { a: {}, b: {} });
    await app.end(200);
    expect(await app.used()).toEqual([5, 1]);
    expect(warnings).toEqual([]);
  });

  it('is told the response and the request, and not asked after a refund', async () => {
    const settle = vi.fn(() => 3);
    const app = open({ refundWhen: 'failed', settle });
    const request = {};
    await app.end(500);
    await app.end(undefined);
    expect(settle).not.toHaveBeenCalled();
    await app.end(201, request);
    expect(settle).toHaveBeenCalledTimes(1);
    expect(settle).toHaveBeenCalledWith({ status: 201 }, request);
    expect(await app.used()).toEqual([3]);
  });
});

describe('nobody is left to be told of a failure, so it is a warning', () => {
  const fails = (): never => {
    throw new Error('no meter');
  };
  const PUT_RIGHT = 'what a request was charged could not be put right by its response: ';

  it.each<[string, Options, string]>([
    ['refundWhen throws', { refundWhen: fails }, 'no meter'],
    ['refundWhen rejects', { refundWhen: async () => fails() }, 'no meter'],
    [
      'refundWhen forgets to return',
      { refundWhen: (() => {}) as never },
      'refundWhen must be a function that returns true or false, got undefined',
    ],
    [
      'refundWhen returns what is no answer',
      { refundWhen: (async () => 1) as never },
      'refundWhen must be a function that returns true or false, got 1',
    ],
    ['settle throws', { settle: fails }, 'no meter'],
    ['settle rejects', { settle: async () => fails() }, 'no meter'],
    [
      'settle gives no number',
      { settle: () => Number.NaN },
      'cost must be an integer of at least 0',
    ],
    [
      'settle gives null',
      { settle: (() => null) as never },
      'cost must be an integer of at least 0',
    ],
    [
      'settle gives null for a policy',
      { settle: (() => ({ p: null })) as never },
      'cost.p must be an integer of at least 0',
    ],
    ['settle names no policy', { settle: () => ({ q: 1 }) }, 'cost names the policy "q"'],
    [
      'something that is no error is thrown',
      {
        settle: () => {
          throw 'words';
        },
      },
      'words',
    ],
  ])('%s', async (_, options, message) => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    const app = open(options);
    await app.end(500);
    await app.end(500);
    await turn();
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
    // Once a process.
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(`RL_AFTER_RESPONSE_FAILED: ${PUT_RIGHT}${message}`);
    expect(await app.used()).toEqual([2]);
  });

  it('F-07 the limiter refuses', async () => {
    const app = open({ refundWhen: 'failed' });
    const verdict = app.judge();
    await app.limiter.close();
    verdict.onEnd?.({ status: 500 });
    await turn();
    expect(warnings).toEqual([`RL_AFTER_RESPONSE_FAILED: ${PUT_RIGHT}the limiter is closed`]);
  });
});

it.each<[object, string]>([
  [
    { refundWhen: 'always' },
    'refundWhen must be one of "failed", "successful", or a function of the response, got "always"',
  ],
  [
    { refundWhen: true },
    'refundWhen must be one of "failed", "successful", or a function of the response, got true',
  ],
  [{ refundWhen: null }, 'refundWhen must be one of "failed", "successful"'],
  [{ settle: 5 }, 'settle must be a function of the response and the request, got 5'],
])('%o is refused', (options, message) => {
  expect(() => open(options as Options)).toThrow(message);
});

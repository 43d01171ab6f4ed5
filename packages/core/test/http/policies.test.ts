import { describe, expect, it } from 'vitest';
import { Gate, type Verdict } from '../../src/http/gate.js';
import { NO_HEADERS } from '../../src/http/headers/report.js';
import type { RateLimitOptions } from '../../src/http/options.js';
import { createLimiter } from '../../src/limiter/limiter.js';
import { memoryStore } from '../../src/store/memory/memory-store.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { bodyOf, readerOf, seen } from './gates.js';

interface Request {
  readonly tier?: string;
  readonly cost?: number | Record<string, number>;
}

const LIMITS: Record<string, number> = { free: 2, paid: 5, none: 0 };

function seenOf(verdict: unknown): Record<string, string> {
  return seen(verdict as Verdict);
}

function open(options: object): { gate: Gate<Request> } {
  const store = memoryStore({ clock: new ManualClock() });
  const all: object = { window: '60s', store, key: () => 'ann', ...options };
  return {
    gate: new Gate<Request>(
      all as RateLimitOptions<Request>,
      readerOf(() => undefined),
    ),
  };
}

describe('a limit that is a function of the request', () => {
  it('is the limit in force, in the headers too', () => {
    const { gate } = open({ limit: ({ tier = '' }: Request) => LIMITS[tier] });
    expect(seenOf(gate.judge({ tier: 'paid' }))).toEqual({
      'RateLimit-Policy': '"default";q=5;w=60',
      RateLimit: '"default";r=4;t=12',
    });
    expect(seenOf(gate.judge({ tier: 'free' }))['RateLimit-Policy']).toBe('"default";q=2;w=60');
    expect(seenOf(gate.judge({ tier: 'none' }))).toMatchObject({
      'RateLimit-Policy': '"default";q=0;w=60',
      RateLimit: '"default";r=0',
      'Content-Type': 'application/problem+json',
    });
  });

  it('may come later', async () => {
    const { gate } = open({ limit: async () => 3 });
    expect(seenOf(await gate.judge({}))['RateLimit-Policy']).toBe('"default";q=3;w=60');
  });

  it('goes with a burst, which a limit of 0 does not have', () => {
    const { gate } = open({ limit: ({ tier = '' }: Request) => LIMITS[tier], burst: 1 });
    expect(seenOf(gate.judge({ tier: 'paid' })).RateLimit).toBe('"default";r=0;t=12');
    expect((gate.judge({ tier: 'none' }) as Verdict).refusal?.status).toBe(429);
  });

  it.each([-1, 1.5, Number.NaN, '5', undefined, null])('%j is an error', (found) => {
    const { gate } = open({ limit: () => found });
    expect(() => gate.judge({})).toThrow('limit must be an integer of at least 0');
  });

  it('what goes with it is refused when it is made', () => {
    const limit = () => 5;
    expect(() => open({ limit, burst: 0 })).toThrow(
      'burst must be an integer of at least 1, got 0',
    );
    expect(() => open({ limit, window: '5x' })).toThrow('window must be');
    expect(() => open({ limit, policies: () => ({}) })).toThrow('policies must be left out where');
    expect(() => open({ limit, burst: 2, algorithm: 'fixed-window' })).toThrow(
      'burst must be left out with fixed-window',
    );
  });
});

describe('policies that differ by request', () => {
  const policiesOf = ({ tier = '' }: Request) => ({ default: { limit: LIMITS[tier] as number } });

  it.each([
    ['at once', policiesOf],
    ['later', async (request: Request) => policiesOf(request)],
  ])('are those in force, known %s', async (_, policies) => {
    const { gate } = open({ limit: 10, policies });
    expect(seenOf(await gate.judge({ tier: 'paid' }))['RateLimit-Policy']).toBe(
      '"default";q=5;w=60',
    );
  });

  it('nothing leaves all as it is', () => {
    const { gate } = open({ limit: 10, policies: () => undefined });
    expect(seenOf(gate.judge({}))['RateLimit-Policy']).toBe('"default";q=10;w=60');
  });

  it('a change may make a policy watch only: then it is not told of', () => {
    const { gate } = open({ limit: 0, policies: () => ({ default: { shadow: true } }) });
    const verdict = gate.judge({}) as Verdict;
    expect(verdict).toMatchObject({ headers: NO_HEADERS, refusal: undefined });
    expect(verdict.decision?.wouldDeny).toBe(true);
  });
});

describe('several policies on one request', () => {
  function openSeveral(policies: object, options: object = {}) {
    const store = memoryStore({ clock: new ManualClock() });
    const limiter = createLimiter({ store, policies: policies as never });
    const keys = () => Object.fromEntries(Object.keys(policies).map((name) => [name, 'ann']));
    const all = { limiter, keys, ...options } as RateLimitOptions<Request>;
    return {
      gate: new Gate<Request>(
        all,
        readerOf(() => undefined),
      ),
    };
  }

  it('H-09 all are told of in order, and all that denied are named with the longest wait', () => {
    const { gate } = openSeveral({
      second: { limit: 1, window: '1s' },
      day: { limit: 2, window: '1d' },
      minute: { limit: 1, window: '60s' },
    });
    expect(seenOf(gate.judge({}))).toEqual({
      'RateLimit-Policy': '"second";q=1;w=1, "day";q=2;w=86400, "minute";q=1;w=60',
      RateLimit: '"second";r=0;t=1, "day";r=1;t=43200, "minute";r=0;t=60',
    });
    const denied = gate.judge({}) as Verdict;
    expect(seen(denied)).toMatchObject({
      RateLimit: '"second";r=0;t=1, "day";r=1;t=43200, "minute";r=0;t=60',
      'Retry-After': '60',
    });
    expect(JSON.parse(bodyOf(denied))).toMatchObject({
      detail: 'The quota is 1 per 1m. Try again in 60 s.',
      'violated-policies': ['second', 'minute'],
    });
  });

  it('a policy that only watches is not told of', () => {
    const { gate } = openSeveral({
      now: { limit: 5, window: '60s' },
      planned: { limit: 0, window: '60s', shadow: true },
    });
    const verdict = gate.judge({}) as Verdict;
    expect(verdict.refusal).toBeUndefined();
    expect(seen(verdict)).toEqual({
      'RateLimit-Policy': '"now";q=5;w=60',
      RateLimit: '"now";r=4;t=12',
    });
  });

  it('a cost may differ by policy', () => {
    const policies = {
      calls: { limit: 10, window: '10s' },
      bytes: { limit: 100, window: '10s' },
    };
    const { gate } = openSeveral(policies, { cost: ({ cost }: Request) => cost });
    expect(seenOf(gate.judge({ cost: { bytes: 40 } })).RateLimit).toBe(
      '"calls";r=9;t=1, "bytes";r=60;t=1',
    );
    expect(seenOf(gate.judge({ cost: 2 })).RateLimit).toBe('"calls";r=7;t=1, "bytes";r=58;t=1');
    const fixed = openSeveral(policies, { cost: { calls: 1, bytes: 50 } });
    expect(seenOf(fixed.gate.judge({})).RateLimit).toBe('"calls";r=9;t=1, "bytes";r=50;t=1');
  });
});

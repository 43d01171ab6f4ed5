import { describe, expect, it } from 'vitest';
import { makeDecision } from '../../src/algorithms/make-decision.js';
import type { Decision, WithoutStore } from '../../src/decision/decision.js';
import { Gate, type Verdict } from '../../src/http/gate.js';
import { NO_HEADERS } from '../../src/http/headers/report.js';
import type { RateLimitOptions } from '../../src/http/options.js';
import { createLimiter, type Limiter } from '../../src/limiter/limiter.js';
import { strictest } from '../../src/limiter/strictest.js';
import { type Policy, parsePolicy } from '../../src/policy/policy.js';
import { bodyOf, readerOf, seen } from './gates.js';

const LIMITS = { second: 5, minute: 100, day: 1000, planned: 1 };
const WINDOWS = { second: '1s', minute: '60s', day: '1d', planned: '60s' };
type Name = keyof typeof LIMITS;

const POLICIES = new Map<string, Policy>(
  (Object.keys(LIMITS) as Name[]).map((name) => {
    const options = { limit: LIMITS[name], window: WINDOWS[name], shadow: name === 'planned' };
    return [name, parsePolicy(name, options, '')];
  }),
);

/** A decision as the limiter makes it, with 3 permits left or none. */
function decide(name: Name, mode?: WithoutStore['mode'], retryAfterMs?: number): Decision {
  const policy = POLICIES.get(name) as Policy;
  const fits = retryAfterMs === undefined;
  const made = makeDecision(policy, fits, fits ? 3 : 0, retryAfterMs, 200, 800, 0, 'store');
  return mode === undefined
    ? made
    : { ...made, origin: 'fallback', fallback: { mode, fault: 'connection' } };
}

const closed = (name: Name, retryAfterMs = 1000): Decision => decide(name, 'closed', retryAfterMs);

/** What a limiter that decides so is answered with. */
function answer(...decisions: Decision[]): Verdict {
  const charges = decisions.map(({ policy }) => ({
    policy: POLICIES.get(policy) as Policy,
    key: 'ann',
    cost: 1,
  }));
  const [only] = decisions;
  const decision = decisions.length === 1 ? only : strictest(decisions, charges);
  const limiter = { policies: POLICIES, tryConsume: () => decision } as unknown as Limiter;
  const gate = new Gate<object>(
    { limiter, keys: () => ({ day: 'ann' }) },
    readerOf(() => undefined),
  );
  return gate.judge({}) as Verdict;
}

function problemOf(verdict: Verdict): unknown {
  return JSON.parse(bodyOf(verdict));
}

describe('a denial of a closed fallback', () => {
  it('is 503, not kept by caches, with a wait and not a word of a quota', () => {
    const verdict = answer(closed('minute'));
    expect(verdict.refusal?.status).toBe(503);
    expect(seen(verdict)).toEqual({
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      'Retry-After': '1',
    });
    expect(problemOf(verdict)).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
      title: 'Temporary Reduced Capacity',
      status: 503,
      detail: 'Quotas cannot be checked right now. Try again in 1 s.',
      'violated-policies': ['minute'],
    });
  });

  it.each([
    [1, '1'],
    [1001, '2'],
  ])('a wait of %i ms is told as %s', (retryAfterMs, told) => {
    expect(seen(answer(closed('minute', retryAfterMs)))['Retry-After']).toBe(told);
  });

  it('has a wait where none is given: the store may be back at any time', () => {
    const endless = { ...closed('minute'), retryAfterMs: undefined } as Decision;
    const verdict = answer(endless);
    expect(verdict.refusal?.status).toBe(503);
    expect(seen(verdict)['Retry-After']).toBe('1');
  });
});

describe('under several policies', () => {
  it('all that are closed are named, and none is told of', () => {
    const verdict = answer(closed('second'), closed('day', 3000));
    expect(verdict.refusal?.status).toBe(503);
    expect(verdict.headers).toEqual(NO_HEADERS);
    expect(seen(verdict)['Retry-After']).toBe('3');
    expect(problemOf(verdict)).toMatchObject({ 'violated-policies': ['second', 'day'] });
  });

  it('closed beside what still has permits is 503, and only what is known is told of', () => {
    const verdict = answer(decide('second', 'local'), closed('minute'), decide('day'));
    expect(verdict.refusal?.status).toBe(503);
    expect(seen(verdict)).toMatchObject({
      'RateLimit-Policy': '"second";q=5;w=1, "day";q=1000;w=86400',
      RateLimit: '"second";r=3;t=1, "day";r=3;t=1',
    });
    expect(problemOf(verdict)).toMatchObject({ 'violated-policies': ['minute'] });
  });

  it.each([
    ['by the store', undefined],
    ['by a local fallback', 'local' as const],
  ])('closed beside a quota that is exceeded %s is 429 for that quota', (_, mode) => {
    // Its wait is the shorter one here, so that the closed one binds for the limiter.
    const verdict = answer(closed('minute'), decide('second', mode, 200));
    expect(verdict.refusal?.status).toBe(429);
    expect(seen(verdict)).toMatchObject({
      'RateLimit-Policy': '"second";q=5;w=1',
      RateLimit: '"second";r=0;t=1',
      'Retry-After': '1',
    });
    expect(problemOf(verdict)).toMatchObject({
      title: 'Quota Exceeded',
      status: 429,
      detail: 'The quota is 5 per 1s. Try again in 1 s.',
      'violated-policies': ['second'],
    });
  });

  it('of several that are exceeded beside a closed one the longest wait is told', () => {
    const verdict = answer(
      decide('second', 'local', 200),
      closed('minute'),
      decide('day', 'local', 86_400),
    );
    expect(seen(verdict)['Retry-After']).toBe('87');
    expect(problemOf(verdict)).toMatchObject({
      detail: 'The quota is 1000 per 1d. Try again in 87 s.',
      'violated-policies': ['second', 'day'],
    });
  });

  it('a policy that only watches denies nobody and is not told of', () => {
    const watching = { ...closed('planned'), allowed: true, wouldDeny: true } as Decision;
    const verdict = answer(watching, decide('day'));
    expect(verdict.refusal).toBeUndefined();
    expect(seen(verdict)['RateLimit-Policy']).toBe('"day";q=1000;w=86400');
  });
});

describe('the other modes', () => {
  it('a local denial is a 429 like any other', () => {
    const verdict = answer(decide('minute', 'local', 600));
    expect(verdict.refusal?.status).toBe(429);
    expect(seen(verdict)).toMatchObject({
      'RateLimit-Policy': '"minute";q=100;w=60',
      RateLimit: '"minute";r=0;t=1',
      'Retry-After': '1',
    });
  });

  it('what an open fallback lets through is told of no quota', () => {
    const verdict = answer(decide('minute', 'open'));
    expect(verdict).toMatchObject({ headers: NO_HEADERS, refusal: undefined });
    expect(verdict.decision?.allowed).toBe(true);
  });
});

describe('the option', () => {
  const GOOD = { limit: 5, window: '60s' };
  const make = (options: object) => () =>
    new Gate<object>(
      options as RateLimitOptions<object>,
      readerOf(() => '192.0.2.1'),
    );

  it.each([
    'local',
    'open',
    'closed',
    {},
    { mode: 'open', deadline: '10ms', replicas: 3, onEvent: () => {} },
    { replicas: async () => 3 },
  ])('%j is taken beside a policy', async (fallback) => {
    const gate = make({ ...GOOD, fallback })();
    expect((gate.judge({}) as Verdict).decision?.remaining).toBe(4);
    await gate.close();
  });

  it.each([
    ['ajar', 'fallback must be one of "local", "open", "closed", got "ajar"'],
    [7, 'fallback must be one of "local", "open", "closed", or an object such as'],
    [{ mode: 'ajar' }, 'fallback.mode must be one of "local", "open", "closed", got "ajar"'],
    [{ deadline: '2m' }, 'fallback.deadline must be at most 1m, got "2m"'],
    [{ deadline: 'soon' }, 'fallback.deadline must be'],
    [{ replicas: 0 }, 'fallback.replicas must be an integer of at least 1, got 0'],
    [{ onEvent: 'log' }, 'fallback.onEvent must be a function, got "log"'],
    [{ timeout: 5 }, 'fallback.timeout is not an option; the options are mode, deadline'],
  ])('%j is refused by the name that the app wrote', (fallback, message) => {
    expect(make({ ...GOOD, fallback })).toThrow(new RegExp(`^${message.replace('.', '\\.')}`));
  });

  it('with a limiter it is the limiter that has it', () => {
    const limiter = createLimiter({ policies: { p: GOOD }, fallback: 'open' });
    const options = { limiter, keys: () => ({ p: 'k' }) };
    expect(make({ ...options, fallback: 'open' })).toThrow(
      'fallback is not an option; the options are limiter, keys',
    );
    expect(make({ ...options, lease: true })).toThrow('lease is not an option');
    void limiter.close();
  });
});

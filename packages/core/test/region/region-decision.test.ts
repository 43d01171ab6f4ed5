import { expect, it } from 'vitest';
import { makeDecision } from '../../src/algorithms/make-decision.js';
import { parsePolicy } from '../../src/policy/policy.js';
import { decideAlone, decideByLook, decideByPool } from '../../src/region/region-decision.js';
import type { PoolAnswer } from '../../src/store/redis/region-pool.js';

const policy = parsePolicy('p', { limit: 100, window: '1s' }, '');
const shadow = parsePolicy('p', { limit: 100, window: '1s', shadow: true }, '');
const answer = (own: Partial<PoolAnswer>): PoolAnswer => ({
  nowMs: 5000,
  outcomes: [],
  left: 10,
  home: { left: 40, refillAfterMs: 7, resetAfterMs: 600 },
  grantedAtMs: 4000,
  lent: { permits: 0, epoch: 0, lifeMs: 0 },
  isFirstCut: false,
  order: undefined,
  ...own,
});

it('has left what is held here and what the home store last said', () => {
  expect(decideByPool(policy, answer({}))).toMatchObject({
    allowed: true,
    policy: 'p',
    limit: 100,
    remaining: 50,
    refillAfterMs: 7,
    resetAfterMs: 600,
    retryAfterMs: undefined,
    origin: 'store',
    decidedAtMs: 4000,
    wouldDeny: false,
  });
});

it('knows what is held alone where the home store was not asked', () => {
  const { remaining, refillAfterMs, resetAfterMs } = decideByPool(
    policy,
    answer({ home: undefined }),
  );
  expect([remaining, refillAfterMs, resetAfterMs]).toEqual([10, 1, 1]);
});

it.each([
  { left: 70, home: { left: 40, refillAfterMs: 7, resetAfterMs: 600 } },
  { left: 0, home: { left: 40, refillAfterMs: 1, resetAfterMs: 0 } },
])('has no more left than the bucket has: %o', (own) => {
  expect(decideByPool(policy, answer(own))).toMatchObject({
    remaining: 100,
    refillAfterMs: undefined,
    resetAfterMs: 0,
  });
});

it('decides at the region’s time where nothing is held', () => {
  expect(decideByPool(policy, answer({ grantedAtMs: 0 })).decidedAtMs).toBe(5000);
});

it('is full no earlier than a denied cost fits', () => {
  const denied = decideByPool(policy, answer({}), { retryAfterMs: 900 });
  expect(denied).toMatchObject({ allowed: false, retryAfterMs: 900, resetAfterMs: 900 });
});

it('has no time to try again for what never fits', () => {
  const never = decideByPool(policy, answer({}), { retryAfterMs: undefined });
  expect(never).toMatchObject({ allowed: false, retryAfterMs: undefined, resetAfterMs: 600 });
});

it('allows what a shadow policy would deny, and says so', () => {
  const watched = decideByPool(shadow, answer({}), { retryAfterMs: 9 });
  expect(watched).toMatchObject({ allowed: true, wouldDeny: true, retryAfterMs: undefined });
});

it('tells the share’s decision as one of the policy', () => {
  const alone = { ...policy, name: 'p/alone', limit: 50 };
  const decision = makeDecision(alone, false, 0, 20, 20, 500, 1, 'store');
  expect(decideAlone(policy, decision, 'timeout')).toEqual({
    ...decision,
    policy: 'p',
    limit: 100,
    origin: 'fallback',
    fallback: { mode: 'region', fault: 'timeout' },
  });
});

const look = (remaining: number, refillAfterMs: number | undefined) =>
  makeDecision(policy, true, remaining, undefined, refillAfterMs, 500, 1, 'store');

it.each([
  [5, 5, 30, true, undefined],
  [5, 0, 30, true, undefined],
  [5, 6, 30, false, 30],
  [5, 6, undefined, false, 1],
  [5, 101, 30, false, undefined],
])('a look that finds %d decides on %d: allowed %s', (remaining, cost, refill, allowed, retry) => {
  const decision = decideByLook(policy, look(remaining, refill), cost);
  expect([decision.allowed, decision.retryAfterMs]).toEqual([allowed, retry]);
});

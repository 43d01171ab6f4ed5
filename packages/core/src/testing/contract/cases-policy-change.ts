import { ALGORITHMS, type Algorithm, type PolicyOptions } from '../../policy/policy.js';
import { type Case, HOUR, type Step } from './case.js';

const COUNTING = ['fixed-window', 'sliding-window', 'sliding-log'] as const;

/** The limit goes from 10 to 4 per 60 s a second after ten calls, one a second. */
function lowered(algorithm: Algorithm, outcome: string, steps: readonly Step[]): Case {
  const calls = Array.from({ length: 10 }, (_, i) => ({ atMs: i * 1000, allowed: true }));
  const policy = { limit: 4, window: '60s', algorithm };
  return {
    name: `C-08 the limit is lowered to 4 while in use: ${outcome}`,
    policy: { limit: 10, window: '60s', algorithm },
    steps: [...calls, { atMs: 10_000, do: 'peek', policy }, ...steps],
  };
}

/** The limit goes from 10 to 20 an hour after fifty calls. */
function raised(algorithm: Algorithm, outcome: string, steps: readonly Step[]): Case {
  const policy = { limit: 20, window: '1h', algorithm };
  return {
    name: `A-15 (a) refused calls do not count when the limit is raised to 20: ${outcome}`,
    policy: { limit: 10, window: '1h', algorithm },
    steps: [
      { atMs: 0, times: 10, allowed: true, remaining: 0 },
      { atMs: 0, times: 40, allowed: false },
      { atMs: 0, do: 'peek', policy },
      ...steps,
    ],
  };
}

/** Three of 10 per 10 s are spent, and then the values change. */
function partlySpent(algorithm: Algorithm, name: string, steps: readonly Step[]): Case {
  return {
    name,
    policy: { limit: 10, window: '10s', algorithm },
    steps: [{ atMs: 0, cost: 3, allowed: true, remaining: 7 }, ...steps],
  };
}

const slower = (algorithm: Algorithm): PolicyOptions => ({ limit: 10, window: '20s', algorithm });
const smaller = (algorithm: Algorithm): PolicyOptions => ({ limit: 4, window: '20s', algorithm });

const larger = (algorithm: Algorithm): PolicyOptions => ({ limit: 20, window: '100s', algorithm });

/** Each algorithm in turn under one name, and each again. */
const IN_TURN = (
  ['fixed-window', 'sliding-log', 'token-bucket', 'sliding-window', 'gcra'] as const
).map((algorithm) => ({ limit: 5, window: '1h', algorithm }));

/**
 * A policy whose values, or algorithm, change while it is in use. By hand: GCRA keeps
 * its time, the others keep what was spent.
 */
export const POLICY_CHANGE_CASES: readonly Case[] = [
  lowered('sliding-log', 'seven calls have to leave first', [
    { atMs: 10_000, allowed: false, remaining: 0, retryAfterMs: 56_000 },
    { atMs: 65_999, allowed: false, retryAfterMs: 1 },
    { atMs: 66_001, allowed: true },
  ]),
  // 8.5 permits spent at 9 s are more than the new burst: it is empty then, and a second at 4 per
  // 60 s has brought 4000 units of 1 ÷ 60,000 by 10 s.
  lowered('token-bucket', 'an empty bucket is the most, and a permit comes each 15 s', [
    { atMs: 10_000, allowed: false, remaining: 0, retryAfterMs: 14_000 },
    { atMs: 23_999, allowed: false, retryAfterMs: 1 },
    { atMs: 24_000, allowed: true, remaining: 0 },
    { atMs: 24_000, allowed: false, retryAfterMs: 15_000 },
  ]),
  // 51 s ahead at 9 s, so 50 s at 10 s, where 45 s let one more in.
  lowered('gcra', 'the wait stays, and a permit comes each 15 s', [
    { atMs: 10_000, allowed: false, remaining: 0, retryAfterMs: 5000 },
    { atMs: 15_000, allowed: true, remaining: 0 },
    { atMs: 15_000, allowed: false, retryAfterMs: 15_000 },
  ]),
  lowered('fixed-window', 'none until the window ends, then 4', [
    { atMs: 10_000, allowed: false, remaining: 0, retryAfterMs: 50_000 },
    { atMs: 60_000, times: 4, allowed: true, remaining: 0 },
    { atMs: 60_000, allowed: false },
  ]),
  // Of the ten 4 are kept, the limit: 4 × (60,000 − 15,000) leave room for one.
  lowered('sliding-window', 'the next window begins with what was spent', [
    { atMs: 10_000, allowed: false, remaining: 0, retryAfterMs: 65_000 },
    { atMs: 74_999, allowed: false, retryAfterMs: 1 },
    { atMs: 75_000, allowed: true, remaining: 0 },
  ]),
  ...(['token-bucket', ...COUNTING] as const).map((algorithm) =>
    raised(algorithm, 'exactly 10 more', [
      { atMs: 0, times: 10, allowed: true },
      { atMs: 0, allowed: false, remaining: 0 },
    ]),
  ),
  // An hour ahead is an hour ahead: GCRA keeps its time.
  raised('gcra', 'the wait stays, at the new rate', [
    { atMs: 0, allowed: false, retryAfterMs: 180_000, resetAfterMs: HOUR },
    { atMs: HOUR / 2, times: 10, allowed: true },
    { atMs: HOUR / 2, allowed: false, retryAfterMs: 180_000 },
  ]),
  partlySpent('token-bucket', 'what was spent stays spent, under any burst', [
    { atMs: 0, do: 'peek', policy: slower('token-bucket'), remaining: 7, resetAfterMs: 6000 },
    { atMs: 0, do: 'peek', policy: smaller('token-bucket'), remaining: 1, resetAfterMs: 15_000 },
    { atMs: 0, do: 'peek', policy: slower('token-bucket'), remaining: 7 },
    { atMs: 0, policy: smaller('token-bucket'), allowed: true, remaining: 0 },
    { atMs: 0, do: 'peek', policy: slower('token-bucket'), remaining: 6 },
  ]),
  partlySpent('gcra', 'the time until it is full stays in a longer window', [
    { atMs: 0, do: 'peek', policy: slower('gcra'), remaining: 8, resetAfterMs: 3000 },
  ]),
  ...COUNTING.map((algorithm) =>
    partlySpent(algorithm, 'what was spent stays spent in a longer window', [
      { atMs: 0, do: 'peek', policy: slower(algorithm), remaining: 7 },
      { atMs: 0, do: 'peek', policy: smaller(algorithm), remaining: 1 },
      { atMs: 0, do: 'peek', policy: slower(algorithm), remaining: 7 },
    ]),
  ),
  ...ALGORITHMS.map(
    (algorithm): Case => ({
      name: 'a bucket that has become full is as good as new, also under other values',
      policy: { limit: 5, window: '10s', algorithm },
      steps: [
        { atMs: 0, cost: 5, allowed: true, remaining: 0 },
        { atMs: 20_001, do: 'peek', policy: larger(algorithm), remaining: 20, resetAfterMs: 0 },
      ],
    }),
  ),
  {
    name: 'S-16 each algorithm under one name has a bucket of its own, never more than 5 of 10',
    policy: IN_TURN[0] as PolicyOptions,
    steps: [
      ...IN_TURN.flatMap((policy) => [
        { atMs: 0, policy, times: 5, allowed: true, remaining: 0 },
        { atMs: 0, times: 5, allowed: false },
      ]),
      ...IN_TURN.map((policy) => ({ atMs: 0, policy, times: 5, allowed: false })),
    ],
  },
];

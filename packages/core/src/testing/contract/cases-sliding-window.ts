import { type Case, DAY, HOUR } from './case.js';

const algorithm = 'sliding-window';

/** Windows aligned to the clock; what was spent before counts by the share still covered. */
export const SLIDING_WINDOW_CASES: readonly Case[] = [
  {
    name: 'A-01 (a) 5 per second: the previous window weighs on the next',
    policy: { limit: 5, window: '1s', algorithm },
    steps: [
      { atMs: 0, times: 5, allowed: true, remaining: 0 },
      { atMs: 0, times: 5, allowed: false },
      { atMs: 999, times: 5, allowed: false },
      { atMs: 1001, times: 5, allowed: false, retryAfterMs: 199 },
      { atMs: 1200, allowed: true, remaining: 0 },
    ],
  },
  {
    name: 'A-01 (b) 9 at the end of a window, 10 two seconds later',
    policy: { limit: 10, window: '60s', algorithm },
    steps: [
      { atMs: 59_000, times: 9, allowed: true, remaining: 1 },
      { atMs: 61_000, allowed: true },
      { atMs: 61_000, times: 9, allowed: false },
    ],
  },
  {
    name: 'A-02 limit 1: a call is free of the one before only after two windows',
    policy: { limit: 1, window: '10s', algorithm },
    steps: [
      { atMs: 0, allowed: true },
      { atMs: 5000, allowed: false, retryAfterMs: 15_000 },
      { atMs: 10_001, allowed: false, retryAfterMs: 9999 },
      { atMs: 20_002, allowed: true },
    ],
  },
  {
    name: 'A-03 exactly 45 more at t = 11 s',
    policy: { limit: 100, window: '10s', algorithm },
    steps: [
      ...Array.from({ length: 50 }, (_, i) => ({ atMs: i * 200, allowed: true })),
      { atMs: 11_000, times: 10, allowed: true, remaining: 45 },
      { atMs: 11_000, times: 45, allowed: true, remaining: 0 },
      { atMs: 11_000, allowed: false },
    ],
  },
  {
    name: 'A-03 exactly 89 more at t = 19.9 s',
    policy: { limit: 100, window: '10s', algorithm },
    steps: [
      ...Array.from({ length: 50 }, (_, i) => ({ atMs: i * 200, allowed: true })),
      { atMs: 19_900, times: 10, allowed: true, remaining: 89 },
      { atMs: 19_900, times: 89, allowed: true, remaining: 0 },
      { atMs: 19_900, allowed: false },
    ],
  },
  {
    name: 'the wait in this window, and over its edge',
    policy: { limit: 10, window: '10s', algorithm },
    steps: [
      {
        atMs: 0,
        cost: 10,
        allowed: true,
        remaining: 0,
        refillAfterMs: 11_000,
        resetAfterMs: 20_000,
      },
      { atMs: 5000, cost: 4, allowed: false, retryAfterMs: 9000 },
      { atMs: 13_999, cost: 4, allowed: false, retryAfterMs: 1 },
      { atMs: 14_000, cost: 4, allowed: true, remaining: 0 },
      { atMs: 14_000, cost: 10, allowed: false, retryAfterMs: 16_000 },
      { atMs: 29_999, cost: 10, allowed: false, retryAfterMs: 1 },
      { atMs: 30_000, cost: 10, allowed: true },
    ],
  },
  {
    name: 'A-14 a refund comes back into its own window alone',
    policy: { limit: 5, window: '1s', algorithm },
    steps: [
      { atMs: 0, times: 5, allowed: true, remaining: 0 },
      { atMs: 0, do: 'refund', cost: 3, remaining: 3 },
      { atMs: 2100, do: 'peek', remaining: 5 },
      { atMs: 2100, do: 'refund', cost: 3, remaining: 5 },
      { atMs: 2500, cost: 4, allowed: true, remaining: 1 },
      { atMs: 3500, do: 'peek', remaining: 3 },
      { atMs: 3500, do: 'refund', cost: 2, remaining: 3 },
      { atMs: 3500, do: 'refund', cost: 2, takenAtMs: 2500, remaining: 4 },
      { atMs: 3500, do: 'refund', cost: 2, takenAtMs: 0, remaining: 4 },
    ],
  },
  {
    name: 'C-01 limit 0 denies every call, and tells no wait',
    policy: { limit: 0, window: '1m', algorithm },
    steps: [
      { atMs: 0, times: 3, allowed: false, remaining: 0, retryAfterMs: undefined, resetAfterMs: 0 },
    ],
  },
  {
    name: 'T-01 the clock steps back: what was spent counts from there on',
    policy: { limit: 5, window: '1s', algorithm },
    steps: [
      { atMs: 11_000, times: 3, allowed: true, remaining: 2 },
      { atMs: 0, times: 2, allowed: true, remaining: 0 },
      { atMs: 0, allowed: false, retryAfterMs: 1200 },
      { atMs: 1200, allowed: true },
      { atMs: HOUR, times: 5, allowed: true },
      { atMs: HOUR, times: 5, allowed: false },
    ],
  },
  {
    name: 'T-04 a window of 30 days',
    policy: { limit: 2, window: '30d', algorithm },
    steps: [
      { atMs: 0, allowed: true },
      { atMs: 50, allowed: true },
      { atMs: DAY, allowed: false },
    ],
  },
  {
    name: 'settle above the limit, up to the overdraft, weighs on the next window',
    policy: { limit: 10, window: '10s', overdraft: 10, algorithm },
    steps: [
      { atMs: 0, cost: 5, allowed: true },
      { atMs: 0, do: 'overcharge', cost: 100, remaining: 0, refillAfterMs: 15_500 },
      { atMs: 15_499, allowed: false, retryAfterMs: 1 },
      { atMs: 15_500, allowed: true },
    ],
  },
];

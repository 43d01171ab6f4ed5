import { type Case, HOUR } from './case.js';

const algorithm = 'sliding-log';

/** Exact over every window; a call exactly one window old is out. */
export const SLIDING_LOG_CASES: readonly Case[] = [
  {
    name: 'A-01 (a) 5 per second around an edge',
    policy: { limit: 5, window: '1s', algorithm },
    steps: [
      { atMs: 0, times: 5, allowed: true },
      { atMs: 0, times: 5, allowed: false },
      { atMs: 999, times: 5, allowed: false, retryAfterMs: 1 },
      { atMs: 1001, times: 5, allowed: true },
    ],
  },
  {
    name: 'A-01 (b) 9 calls, and 10 two seconds later',
    policy: { limit: 10, window: '60s', algorithm },
    steps: [
      { atMs: 59_000, times: 9, allowed: true },
      { atMs: 61_000, allowed: true },
      { atMs: 61_000, times: 9, allowed: false, retryAfterMs: 58_000 },
    ],
  },
  {
    name: 'A-02 limit 1',
    policy: { limit: 1, window: '10s', algorithm },
    steps: [
      { atMs: 0, allowed: true },
      { atMs: 5000, allowed: false },
      { atMs: 10_000, allowed: true },
      { atMs: 20_002, allowed: true },
    ],
  },
  {
    name: 'A-07 3 per second, a call each 100 ms: 9 in three seconds',
    policy: { limit: 3, window: '1s', algorithm },
    steps: Array.from({ length: 30 }, (_, i) => ({ atMs: i * 100, allowed: i % 10 < 3 })),
  },
  {
    name: 'A-10 mixed costs',
    policy: { limit: 10, window: '60s', algorithm },
    steps: [
      { atMs: 0, cost: 6, allowed: true, remaining: 4 },
      { atMs: 1000, cost: 4, allowed: true, remaining: 0 },
      { atMs: 2000, cost: 1, allowed: false, remaining: 0, retryAfterMs: 58_000 },
      { atMs: 2000, cost: 7, allowed: false, retryAfterMs: 59_000 },
      { atMs: 60_001, cost: 6, allowed: true },
      { atMs: 60_001, cost: 1, allowed: false },
    ],
  },
  {
    name: 'A-14 a refund takes its entry with it: it cannot expire into a second one',
    policy: { limit: 5, window: '1s', algorithm },
    steps: [
      { atMs: 0, times: 5, allowed: true, remaining: 0 },
      { atMs: 0, do: 'refund', cost: 3, remaining: 3, resetAfterMs: 1000 },
      { atMs: 1100, do: 'peek', remaining: 5, resetAfterMs: 0 },
      { atMs: 1100, do: 'refund', cost: 3, remaining: 5 },
      { atMs: 1100, cost: 2, allowed: true, remaining: 3 },
      { atMs: 1300, cost: 2, allowed: true, remaining: 1 },
      { atMs: 1300, do: 'refund', cost: 9, takenAtMs: 1100, remaining: 3 },
      { atMs: 1300, do: 'refund', cost: 9, takenAtMs: 0, remaining: 3 },
      { atMs: 2299, do: 'peek', remaining: 3 },
      { atMs: 2300, do: 'peek', remaining: 5 },
    ],
  },
  {
    name: 'A-15 (b) refused calls neither count nor prolong the wait',
    policy: { limit: 10, window: '10s', algorithm },
    steps: [
      ...Array.from({ length: 10 }, (_, i) => ({ atMs: i * 1000, allowed: true })),
      { atMs: 9500, allowed: false },
      { atMs: 10_500, allowed: true },
    ],
  },
  {
    name: 'H-03 the wait is for the oldest call to leave, not the newest',
    policy: { limit: 2, window: '60s', algorithm },
    steps: [
      { atMs: 0, allowed: true },
      { atMs: 10_000, allowed: true },
      { atMs: 20_000, allowed: false, retryAfterMs: 40_000 },
      { atMs: 60_001, allowed: true },
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
    name: 'T-01 the clock steps back: later entries count as being of now',
    policy: { limit: 5, window: '1s', algorithm },
    steps: [
      { atMs: 11_000, times: 3, allowed: true, remaining: 2 },
      { atMs: 0, times: 2, allowed: true, remaining: 0 },
      { atMs: 0, allowed: false, retryAfterMs: 1000 },
      { atMs: 1000, allowed: true, remaining: 4 },
      { atMs: HOUR, times: 5, allowed: true },
      { atMs: HOUR, times: 5, allowed: false },
    ],
  },
  {
    name: 'what has left the window is cut off without a trace, again and again',
    policy: { limit: 50, window: '1s', algorithm },
    steps: Array.from({ length: 300 }, (_, i) => ({
      atMs: i * 20,
      allowed: true,
      remaining: Math.max(0, 49 - i),
    })),
  },
  {
    name: 'settle above the limit, up to the overdraft, leaves when it is a window old',
    policy: { limit: 10, window: '10s', overdraft: 5, algorithm },
    steps: [
      { atMs: 0, cost: 8, allowed: true },
      { atMs: 1000, do: 'overcharge', cost: 100, remaining: 0, resetAfterMs: 10_000 },
      { atMs: 1000, allowed: false, retryAfterMs: 9000 },
      { atMs: 10_000, cost: 3, allowed: true, remaining: 0 },
      { atMs: 11_000, do: 'peek', remaining: 7 },
    ],
  },
];

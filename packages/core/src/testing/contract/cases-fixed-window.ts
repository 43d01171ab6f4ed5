import { type Case, DAY, HOUR } from './case.js';

const algorithm = 'fixed-window';

/** A window begins with the first call that is allowed. */
export const FIXED_WINDOW_CASES: readonly Case[] = [
  {
    name: 'all come back at once at the end of the window',
    policy: { limit: 3, window: '3s', algorithm },
    steps: [
      { atMs: 500, do: 'peek', remaining: 3, refillAfterMs: undefined, resetAfterMs: 0 },
      { atMs: 500, allowed: true, remaining: 2, refillAfterMs: 3000, resetAfterMs: 3000 },
      { atMs: 1500, times: 2, allowed: true, remaining: 0, resetAfterMs: 2000 },
      { atMs: 1500, allowed: false, remaining: 0, retryAfterMs: 2000 },
      { atMs: 3499, allowed: false, retryAfterMs: 1 },
      { atMs: 3500, times: 3, allowed: true, remaining: 0, resetAfterMs: 3000 },
    ],
  },
  {
    name: 'A-01 (a) 5 per second: none before the window ends, all after',
    policy: { limit: 5, window: '1s', algorithm },
    steps: [
      { atMs: 0, times: 5, allowed: true },
      { atMs: 0, times: 5, allowed: false },
      { atMs: 999, times: 5, allowed: false },
      { atMs: 1001, times: 5, allowed: true },
    ],
  },
  {
    name: 'A-01 (b) a window begins with the first call, not with the clock',
    policy: { limit: 10, window: '60s', algorithm },
    steps: [
      { atMs: 59_000, times: 9, allowed: true, remaining: 1 },
      { atMs: 61_000, allowed: true, remaining: 0 },
      { atMs: 61_000, times: 9, allowed: false, retryAfterMs: 58_000 },
    ],
  },
  {
    name: 'A-02 limit 1',
    policy: { limit: 1, window: '10s', algorithm },
    steps: [
      { atMs: 0, allowed: true },
      { atMs: 5000, allowed: false },
      { atMs: 10_001, allowed: true },
      { atMs: 20_002, allowed: true },
    ],
  },
  {
    name: 'A-11 cost 0 looks, and begins no window',
    policy: { limit: 5, window: '1m', algorithm },
    steps: [
      { atMs: 0, cost: 0, times: 10, allowed: true, remaining: 5, resetAfterMs: 0 },
      { atMs: 50_000, allowed: true, remaining: 4, resetAfterMs: 60_000 },
    ],
  },
  {
    name: 'A-14 a refund comes back into its own window alone',
    policy: { limit: 5, window: '1s', algorithm },
    steps: [
      { atMs: 0, times: 5, allowed: true, remaining: 0 },
      { atMs: 0, do: 'refund', cost: 3, remaining: 3 },
      { atMs: 1100, do: 'peek', remaining: 5 },
      { atMs: 1100, do: 'refund', cost: 3, remaining: 5 },
      { atMs: 1100, cost: 4, allowed: true, remaining: 1 },
      { atMs: 1100, do: 'refund', cost: 3, takenAtMs: 0, remaining: 1 },
      { atMs: 1200, do: 'refund', cost: 3, takenAtMs: 1100, remaining: 4 },
      { atMs: 1200, do: 'refund', cost: 30, remaining: 5, resetAfterMs: 0 },
    ],
  },
  {
    name: 'A-15 (b) refused calls neither count nor prolong the window',
    policy: { limit: 10, window: '10s', algorithm },
    steps: [
      ...Array.from({ length: 10 }, (_, i) => ({ atMs: i * 1000, allowed: true })),
      { atMs: 9500, allowed: false },
      { atMs: 10_500, allowed: true },
    ],
  },
  {
    name: 'A-07 3 per second, a call each 100 ms: 9 in three seconds',
    policy: { limit: 3, window: '1s', algorithm },
    steps: Array.from({ length: 30 }, (_, i) => ({ atMs: i * 100, allowed: i % 10 < 3 })),
  },
  {
    name: 'T-03 (b) windows are of whole milliseconds, not of whole seconds',
    policy: { limit: 5, window: '2s', algorithm },
    steps: [
      { atMs: 0, allowed: true },
      { atMs: 1700, times: 4, allowed: true, remaining: 0 },
      { atMs: 2200, allowed: true, remaining: 4 },
      { atMs: 2200, times: 4, allowed: true, remaining: 0 },
    ],
  },
  {
    name: 'S-14 a new window never shows the old count',
    policy: { limit: 3, window: '50ms', algorithm },
    steps: Array.from({ length: 40 }, (_, i) => [
      { atMs: i * 50, allowed: true, remaining: 2, resetAfterMs: 50 },
      { atMs: i * 50 + 49, allowed: true, remaining: 1, resetAfterMs: 1 },
    ]).flat(),
  },
  {
    name: 'S-15 the end of a window does not move with its calls',
    policy: { limit: 10, window: '2s', algorithm },
    steps: Array.from({ length: 40 }, (_, i) => ({
      atMs: i * 500,
      allowed: true,
      resetAfterMs: 2000 - (i % 4) * 500,
    })),
  },
  {
    name: 'C-01 limit 0 denies every call, and tells no wait',
    policy: { limit: 0, window: '1m', algorithm },
    steps: [
      { atMs: 0, times: 3, allowed: false, remaining: 0, retryAfterMs: undefined, resetAfterMs: 0 },
    ],
  },
  {
    name: 'T-01 the clock steps back: the window begins anew from there, with its count',
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
    name: 'T-04 a window of 30 days',
    policy: { limit: 2, window: '30d', algorithm },
    steps: [
      { atMs: 0, allowed: true },
      { atMs: 50, allowed: true },
      { atMs: 100, allowed: false, retryAfterMs: 30 * DAY - 100 },
    ],
  },
  {
    name: 'settle above the limit, up to the overdraft: the window stays shut until its end',
    policy: { limit: 5, window: '10s', overdraft: 2, algorithm },
    steps: [
      { atMs: 0, cost: 4, allowed: true, remaining: 1 },
      { atMs: 1000, do: 'overcharge', cost: 9, remaining: 0, refillAfterMs: 9000 },
      { atMs: 1000, do: 'refund', cost: 3, remaining: 1 },
      { atMs: 10_000, do: 'peek', remaining: 5 },
    ],
  },
];

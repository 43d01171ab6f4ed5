import { MAX_AMOUNT } from '../../arith/integers.js';
import { type Case, DAY, HOUR } from './case.js';

/** Token bucket, by hand: refill limit ÷ window, a full bucket holds the burst, starts full. */
export const TOKEN_BUCKET_CASES: readonly Case[] = [
  {
    name: 'a new bucket is full, and empties one permit at a time',
    policy: { limit: 3, window: '3s' },
    steps: [
      { atMs: 0, do: 'peek', remaining: 3, refillAfterMs: undefined, resetAfterMs: 0 },
      { atMs: 0, allowed: true, remaining: 2, refillAfterMs: 1000, resetAfterMs: 1000 },
      { atMs: 0, allowed: true, remaining: 1, refillAfterMs: 1000, resetAfterMs: 2000 },
      { atMs: 0, allowed: true, remaining: 0, refillAfterMs: 1000, resetAfterMs: 3000 },
      { atMs: 0, allowed: false, remaining: 0, retryAfterMs: 1000, resetAfterMs: 3000 },
    ],
  },
  {
    name: 'the exact edge: a millisecond before the permit is back, and then',
    policy: { limit: 1, window: '1s' },
    steps: [
      { atMs: 0, allowed: true, remaining: 0 },
      { atMs: 999, allowed: false, retryAfterMs: 1 },
      { atMs: 1000, allowed: true, remaining: 0, retryAfterMs: undefined },
    ],
  },
  {
    name: '700 per second stays 700: seven permits in ten milliseconds, none more',
    policy: { limit: 700, window: '1s' },
    steps: [
      { atMs: 0, cost: 700, allowed: true, remaining: 0 },
      { atMs: 1, allowed: false, retryAfterMs: 1 },
      { atMs: 10, cost: 7, allowed: true, remaining: 0, refillAfterMs: 2 },
      { atMs: 10, allowed: false, retryAfterMs: 2 },
    ],
  },
  {
    name: 'a limit that does not divide the window loses nothing over a day',
    policy: { limit: 7, window: '1m' },
    steps: [
      { atMs: 0, cost: 7, allowed: true, remaining: 0 },
      { atMs: 8571, allowed: false, retryAfterMs: 1 },
      { atMs: 8572, allowed: true, remaining: 0 },
      { atMs: DAY, do: 'peek', remaining: 7, resetAfterMs: 0 },
    ],
  },
  {
    name: 'burst above the limit: spent at once, refilled at the rate',
    policy: { limit: 10, window: '1s', burst: 25 },
    steps: [
      { atMs: 0, cost: 25, allowed: true, remaining: 0, resetAfterMs: 2500 },
      { atMs: 100, allowed: true, remaining: 0 },
      { atMs: 2600, do: 'peek', remaining: 25, resetAfterMs: 0 },
      { atMs: HOUR, do: 'peek', remaining: 25 },
    ],
  },
  {
    name: 'burst below the limit: never more at once, whatever the idle time',
    policy: { limit: 100, window: '1s', burst: 2 },
    steps: [
      { atMs: 0, times: 2, allowed: true, remaining: 0 },
      { atMs: 0, allowed: false, retryAfterMs: 10 },
      { atMs: HOUR, times: 2, allowed: true, remaining: 0 },
      { atMs: HOUR, allowed: false },
    ],
  },
  {
    name: 'cost above the burst is denied without a wait, and takes nothing',
    policy: { limit: 5, window: '1m' },
    steps: [
      { atMs: 0, cost: 6, allowed: false, remaining: 5, retryAfterMs: undefined, resetAfterMs: 0 },
      { atMs: 0, cost: Number.MAX_SAFE_INTEGER, allowed: false, remaining: 5 },
      { atMs: 0, cost: 5, allowed: true, remaining: 0 },
    ],
  },
  {
    name: 'a denied call leaves smaller costs their permits',
    policy: { limit: 5, window: '5s' },
    steps: [
      { atMs: 0, cost: 3, allowed: true, remaining: 2 },
      { atMs: 0, cost: 3, allowed: false, remaining: 2, retryAfterMs: 1000 },
      { atMs: 0, cost: 2, allowed: true, remaining: 0 },
    ],
  },
  {
    name: 'A-04 long idleness: full again, never above, never below zero',
    policy: { limit: 1_000_000, window: '1s' },
    steps: [
      { atMs: 0, allowed: true, remaining: 999_999 },
      { atMs: 12 * HOUR, allowed: true, remaining: 999_999 },
      { atMs: 30 * DAY, allowed: true, remaining: 999_999 },
      { atMs: 430 * DAY, allowed: true, remaining: 999_999 },
    ],
  },
  {
    name: 'A-05 the wait counts the part of a permit that has grown',
    policy: { limit: 1, window: '1s' },
    steps: [
      { atMs: 0, allowed: true },
      { atMs: 200, allowed: false, retryAfterMs: 800 },
    ],
  },
  {
    name: 'A-09 polling takes nothing away: one permit in two seconds, asked each 100 ms',
    policy: { limit: 1, window: '2s' },
    steps: Array.from({ length: 101 }, (_, i) => ({
      atMs: i * 100,
      allowed: i % 20 === 0,
      remaining: 0,
    })),
  },
  {
    name: 'A-11 a cost of 0 looks and charges nothing',
    policy: { limit: 5, window: '1m' },
    steps: [
      { atMs: 0, cost: 0, times: 10, allowed: true, remaining: 5, resetAfterMs: 0 },
      { atMs: 0, allowed: true, remaining: 4, resetAfterMs: 12_000 },
      { atMs: 0, cost: 0, times: 10, allowed: true, remaining: 4, resetAfterMs: 12_000 },
    ],
  },
  {
    name: 'A-14 a refund comes back once, and never above a full bucket',
    policy: { limit: 5, window: '1s' },
    steps: [
      { atMs: 0, times: 5, allowed: true, remaining: 0 },
      { atMs: 0, do: 'refund', cost: 3, allowed: true, remaining: 3, resetAfterMs: 400 },
      { atMs: 0, do: 'peek', remaining: 3 },
      { atMs: 1100, do: 'peek', remaining: 5 },
      { atMs: 1100, do: 'refund', cost: 3, remaining: 5, resetAfterMs: 0 },
      { atMs: 1100, times: 5, allowed: true, remaining: 0 },
      { atMs: 1100, allowed: false },
    ],
  },
  {
    name: 'a refund to a bucket that was never used changes nothing',
    policy: { limit: 5, window: '1s' },
    steps: [
      { atMs: 0, do: 'refund', cost: Number.MAX_SAFE_INTEGER, remaining: 5 },
      { atMs: 0, cost: 5, allowed: true, remaining: 0 },
    ],
  },
  {
    name: 'reset forgets what was charged',
    policy: { limit: 2, window: '1h' },
    steps: [
      { atMs: 0, cost: 2, allowed: true },
      { atMs: 0, allowed: false },
      { atMs: 0, do: 'reset' },
      { atMs: 0, allowed: true, remaining: 1 },
    ],
  },
  {
    name: 'C-01 limit 0 denies every call, and tells no wait',
    policy: { limit: 0, window: '1m' },
    steps: [
      { atMs: 0, times: 3, allowed: false, remaining: 0, retryAfterMs: undefined, resetAfterMs: 0 },
      {
        atMs: DAY,
        allowed: false,
        remaining: 0,
        retryAfterMs: undefined,
        refillAfterMs: undefined,
      },
      { atMs: DAY, do: 'peek', remaining: 0 },
    ],
  },
  {
    name: 'T-01 the clock steps back and forward: nobody is locked out, nothing is given twice',
    policy: { limit: 5, window: '1s' },
    steps: [
      { atMs: 11_000, times: 3, allowed: true, remaining: 2 },
      { atMs: 0, times: 2, allowed: true, remaining: 0 },
      { atMs: 0, allowed: false, remaining: 0, retryAfterMs: 200 },
      { atMs: 1000, allowed: true, remaining: 4 },
      { atMs: HOUR, times: 5, allowed: true, remaining: 0 },
      { atMs: HOUR, times: 5, allowed: false, remaining: 0 },
    ],
  },
  {
    name: 'T-01 the clock steps back while the bucket is empty: the wait is from now',
    policy: { limit: 1, window: '1s' },
    steps: [
      { atMs: DAY, allowed: true },
      { atMs: 0, allowed: false, retryAfterMs: 1000 },
      { atMs: 999, allowed: false, retryAfterMs: 1 },
      { atMs: 1000, allowed: true },
    ],
  },
  {
    name: 'T-04 a window of 30 days',
    policy: { limit: 2, window: '30d' },
    steps: [
      { atMs: 0, allowed: true, remaining: 1, resetAfterMs: 15 * DAY },
      { atMs: 50, allowed: true, remaining: 0 },
      { atMs: 100, allowed: false, retryAfterMs: 15 * DAY - 100, resetAfterMs: 30 * DAY - 100 },
    ],
  },
  {
    name: 'T-04 a window of 365 days',
    policy: { limit: 2, window: '365d' },
    steps: [
      { atMs: 0, allowed: true, remaining: 1 },
      { atMs: 50, allowed: true, remaining: 0 },
      { atMs: 100, allowed: false, resetAfterMs: 365 * DAY - 100 },
    ],
  },
  {
    name: 'M-05 each bucket has its own time: late use is not forgotten at a common reset',
    policy: { limit: 5, window: '3s' },
    steps: [
      { atMs: 2900, times: 5, allowed: true, remaining: 0 },
      { atMs: 2900, allowed: false },
      { atMs: 3100, allowed: false },
      { atMs: 5950, allowed: true },
    ],
  },
  {
    name: 'the largest bucket there can be is exact to the unit',
    policy: { limit: 1, window: 1, burst: MAX_AMOUNT },
    steps: [
      { atMs: 0, allowed: true, remaining: MAX_AMOUNT - 1 },
      { atMs: 0, cost: MAX_AMOUNT - 1, allowed: true, remaining: 0 },
      { atMs: 0, allowed: false, retryAfterMs: 1, resetAfterMs: MAX_AMOUNT },
      { atMs: 3, cost: 4, allowed: false, remaining: 3, retryAfterMs: 1 },
      { atMs: 3, cost: 3, allowed: true, remaining: 0 },
    ],
  },
  {
    name: 'settle below zero: later calls wait for it, down to the overdraft and no further',
    policy: { limit: 10, window: '10s', overdraft: 5 },
    steps: [
      { atMs: 0, cost: 8, allowed: true, remaining: 2 },
      {
        atMs: 0,
        do: 'overcharge',
        cost: 4,
        remaining: 0,
        refillAfterMs: 3000,
        resetAfterMs: 12_000,
      },
      { atMs: 0, allowed: false, remaining: 0, retryAfterMs: 3000 },
      { atMs: 0, do: 'overcharge', cost: 100, refillAfterMs: 6000, resetAfterMs: 15_000 },
      { atMs: 5999, allowed: false, retryAfterMs: 1 },
      { atMs: 6000, allowed: true, remaining: 0 },
    ],
  },
  {
    name: 'an overdraft of 0 settles to an empty bucket at most',
    policy: { limit: 10, window: '10s', overdraft: 0 },
    steps: [
      { atMs: 0, do: 'overcharge', cost: 50, remaining: 0, resetAfterMs: 10_000 },
      { atMs: 1000, allowed: true },
    ],
  },
];

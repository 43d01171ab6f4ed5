import type { Case } from './case.js';
import { TOKEN_BUCKET_CASES } from './cases-token-bucket.js';

/** GCRA with the same burst decides as the token bucket does. */
const SHARED: readonly Case[] = TOKEN_BUCKET_CASES.map((one) => ({
  ...one,
  policy: { ...one.policy, algorithm: 'gcra' },
}));

const TENTHS = Array.from({ length: 30 }, (_, i) => i * 100);
/** Refill 3 a second from a burst of 3: the k-th call fits once (k - 3) / 3 s have passed. */
const ADMITTED = [0, 100, 200, 400, 700, 1000, 1400, 1700, 2000, 2400, 2700];

/** Rows of the case list that name both. */
const NAMED: readonly Case[] = (['token-bucket', 'gcra'] as const).flatMap((algorithm) => [
  {
    name: 'A-01 (a) a burst around a window edge: 5 at once, then what has come back',
    policy: { limit: 5, window: '1s', algorithm },
    steps: [
      { atMs: 0, times: 5, allowed: true, remaining: 0 },
      { atMs: 0, times: 5, allowed: false },
      { atMs: 999, times: 4, allowed: true, remaining: 0 },
      { atMs: 999, allowed: false, retryAfterMs: 1 },
      { atMs: 1001, allowed: true },
      { atMs: 1001, times: 4, allowed: false },
    ],
  },
  {
    name: 'A-01 (b) 9 calls, and 10 two seconds later',
    policy: { limit: 10, window: '60s', algorithm },
    steps: [
      { atMs: 59_000, times: 9, allowed: true, remaining: 1 },
      { atMs: 61_000, allowed: true },
      { atMs: 61_000, times: 9, allowed: false },
    ],
  },
  {
    name: 'A-02 limit 1',
    policy: { limit: 1, window: '10s', algorithm },
    steps: [
      { atMs: 0, allowed: true },
      { atMs: 5000, allowed: false, retryAfterMs: 5000 },
      { atMs: 10_001, allowed: true },
      { atMs: 20_002, allowed: true },
    ],
  },
  {
    name: 'A-07 permits come back one by one, not all at once each period',
    policy: { limit: 3, window: '1s', algorithm },
    steps: TENTHS.map((atMs) => ({ atMs, allowed: ADMITTED.includes(atMs) })),
  },
  {
    name: 'T-03 (a) 10 a second, burst 1, a call each 105 ms: all pass',
    policy: { limit: 10, window: '1s', burst: 1, algorithm },
    steps: Array.from({ length: 10 }, (_, i) => ({ atMs: i * 105, allowed: true })),
  },
]);

export const GCRA_CASES: readonly Case[] = [...SHARED, ...NAMED];

/** The one customer of the demo: all its machines send this key, so all share one quota. */
export const API_KEY = 'acme';

/** The name of the policy, which is a part of what is stored. */
export const POLICY = 'requests';

/**
 * One hour. With 100 permits an hour, one returns every 36 s, later than the demo ends: its
 * figures are exact, and refill plays no part in them.
 */
export const WINDOW_MS = 3_600_000;

/** `WINDOW_MS` as the output calls it: "100 requests per hour". */
export const WINDOW_NAME = 'hour';

/** What was admitted above all that the policy could have given. */
export interface Bound {
  /** Permits that can have returned since the first request, in whole permits. */
  readonly returned: number;
  /** Permits admitted above burst + refill; 0 where the quota was kept. */
  readonly overshoot: number;
}

/**
 * The most a token bucket can admit in `elapsedMs` is burst + rate × elapsed; the burst is the
 * limit here. Worked: 100 an hour and 12 s give 100 + 0.33, so 101 admitted is an overshoot of 1.
 *
 * @param elapsedMs from before the first request was sent until after the last was answered
 */
export function boundOf(admitted: number, limit: number, elapsedMs: number): Bound {
  const returned = Math.floor((limit * elapsedMs) / WINDOW_MS);
  return { returned, overshoot: Math.max(0, admitted - limit - returned) };
}

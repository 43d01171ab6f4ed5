/**
 * The same calls against every algorithm, on a clock moved by hand: what docs/algorithms.md shows
 * and counts.
 */

/** Every call costs 1 and comes at these milliseconds, the whole of them within `SPAN_MS`. */
export const DEMAND = [
  0,
  ...Array.from({ length: 12 }, (_, i) => 950 + 4 * i),
  ...Array.from({ length: 12 }, (_, i) => 1006 + 4 * i),
  ...Array.from({ length: 50 }, (_, i) => 1500 + 50 * i),
];
export const SPAN_MS = 4000;
export const LIMIT = 10;
export const WINDOW_MS = 1000;

/**
 * @param core `createLimiter`, `memoryStore` and `ManualClock`, built or from the sources
 * @returns one run for each algorithm, in the order of `algorithms`
 */
export function runAll(core, algorithms) {
  return algorithms.map((algorithm) => runOne(core, algorithm));
}

function runOne({ createLimiter, memoryStore, ManualClock }, algorithm) {
  const clock = new ManualClock();
  const startMs = clock.nowMs();
  if (startMs % WINDOW_MS !== 0) throw new Error(`a run begins with a window, not at ${startMs}`);
  const limiter = createLimiter({
    policies: { client: { limit: LIMIT, window: WINDOW_MS, algorithm } },
    store: memoryStore({ clock }),
  });
  const calls = DEMAND.map((atMs) => {
    clock.set(startMs + atMs);
    const { allowed, retryAfterMs, resetAfterMs } = limiter.tryConsume({ client: 'one' });
    return { atMs, allowed, retryAfterMs, resetAfterMs };
  });
  const allowedAtMs = calls.filter(({ allowed }) => allowed).map(({ atMs }) => atMs);
  return {
    algorithm,
    calls,
    allowedAtMs,
    windows: windowsOf(algorithm, calls),
    mostInWindow: mostWithin(allowedAtMs, WINDOW_MS),
    mostInTenth: mostWithin(allowedAtMs, WINDOW_MS / 10),
  };
}

/** The most of `timesMs` that lie in one interval of `lengthMs`, its end not included. */
export function mostWithin(timesMs, lengthMs) {
  const from = (start) => timesMs.filter((t) => t >= start && t < start + lengthMs).length;
  return Math.max(0, ...timesMs.map(from));
}

/** Where each window begins: a fixed one by its decisions, a sliding one with the clock's second. */
function windowsOf(algorithm, calls) {
  if (algorithm === 'sliding-window') {
    return Array.from({ length: SPAN_MS / WINDOW_MS }, (_, i) => i * WINDOW_MS);
  }
  if (algorithm !== 'fixed-window') return [];
  return [...new Set(calls.map(({ atMs, resetAfterMs }) => atMs + resetAfterMs - WINDOW_MS))];
}

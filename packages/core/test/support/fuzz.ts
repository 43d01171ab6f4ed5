import type { Parameters } from 'fast-check';

/**
 * How many random histories a property runs: 200, or what `npm run fuzz -- --runs N` asks for. The
 * seed of a failure is printed with its smallest counterexample.
 *
 * @param share of them, where each takes long
 */
export function fuzzRuns<T>(share = 1): Parameters<T> {
  const runs = Number(process.env.RL_FUZZ_RUNS ?? '200');
  if (!Number.isSafeInteger(runs) || runs < 1) {
    throw new RangeError(`RL_FUZZ_RUNS must be an integer of at least 1, got ${runs}`);
  }
  return { numRuns: Math.ceil(share * runs) };
}

/** For how long a fleet of processes runs: 3 s, or what `npm run fuzz -- --seconds N` asks for. */
export function fleetSeconds(): number {
  const seconds = Number(process.env.RL_FLEET_SECONDS ?? '3');
  if (seconds >= 1 && seconds <= 9999) return seconds;
  throw new RangeError(`RL_FLEET_SECONDS must be from 1 to 9999, got ${seconds}`);
}

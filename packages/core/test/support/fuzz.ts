import type { Parameters } from 'fast-check';

/**
 * How many random histories a property runs: 200, or what `npm run fuzz -- --runs N` asks for. The
 * seed of a failure is printed with its smallest counterexample.
 */
export function fuzzRuns<T>(): Parameters<T> {
  const runs = Number(process.env.RL_FUZZ_RUNS ?? '200');
  if (!Number.isSafeInteger(runs) || runs < 1) {
    throw new RangeError(`RL_FUZZ_RUNS must be an integer of at least 1, got ${runs}`);
  }
  return { numRuns: runs };
}

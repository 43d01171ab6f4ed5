/**
 * Replicas under load while their Redis, and the ways to it, fail in one way after the other. Tables
 * go to stdout, or with `--json` one line of JSON, and the tables to stderr; so does progress. Ends
 * with code 1 where something was seen that should not be: those lines are printed last.
 */
import { renderTable } from '../report.js';
import { runProgram } from '../run-program.js';
import { type Arguments, parseArguments, USAGE } from './arguments.js';
import { runChaos } from './run.js';
import { summarise } from './run-figures.js';
import { planFaults } from './schedule.js';
import { tablesOf } from './tables.js';
import { failuresOf } from './verdict.js';

/** Of each replica: more than its share of the quota of the hot key. */
const CALLS_PER_SECOND = 500;

/** The default of the limiters. */
const DEADLINE_MS = 5;

async function run(asked: Arguments, signal: AbortSignal): Promise<number> {
  const { faults, seconds, seed, replicas, json } = asked;
  const print = json ? console.error : console.log;
  const outcome = await runChaos({
    plan: planFaults(faults, seconds, seed),
    replicas,
    callsPerSecond: CALLS_PER_SECOND,
    seed,
    signal,
    onProgress: (what) => process.stderr.write(`${what} ...\n`),
  });
  const figures = summarise(outcome, seed, DEADLINE_MS);
  const failures = failuresOf(figures);
  for (const table of tablesOf(figures)) print(`\n${renderTable(table)}`);
  for (const failure of failures) print(`failed: ${failure}`);
  if (json) console.log(JSON.stringify({ ...figures, failures }));
  return failures.length > 0 ? 1 : 0;
}

process.exitCode = await runProgram(parseArguments, USAGE, run);

/**
 * Replicas under load while their Redis, and the ways to it, fail in one way after the other. Tables
 * go to stdout, or with `--json` one line of JSON, and the tables to stderr; so does progress. Ends
 * with code 1 where something was seen that should not be: those lines are printed last.
 */
import { abortOnSignal } from '../abort-on-signal.js';
import { renderTable } from '../report.js';
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

async function main(): Promise<number> {
  let asked: Arguments;
  try {
    asked = parseArguments(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${USAGE}\n`);
    return 2;
  }
  const interruption = abortOnSignal();
  try {
    return await run(asked, interruption.signal);
  } catch (error) {
    const { aborted } = interruption.signal;
    const says = error instanceof Error ? (aborted ? error.message : error.stack) : error;
    process.stderr.write(`${says}\n`);
    return interruption.exitCode() ?? 1;
  }
}

process.exitCode = await main();

/**
 * Replicas that share quotas on a real Redis Cluster, under load, while slots move back and forth and
 * a primary is killed. Tables go to stdout, or with `--json` one line of JSON, and the tables to
 * stderr; so does progress. Ends with code 1 where something was seen that should not be.
 */
import { renderTable } from '../report.js';
import { runProgram } from '../run-program.js';
import { type Arguments, parseArguments, USAGE } from './arguments.js';
import { failuresOf, summarise } from './figures.js';
import { runOnCluster } from './run.js';
import { tablesOf } from './tables.js';

async function run({ json, seconds, replicas }: Arguments, signal: AbortSignal): Promise<number> {
  const print = json ? console.error : console.log;
  const onProgress = (what: string) => void process.stderr.write(`${what} ...\n`);
  const figures = summarise(await runOnCluster({ seconds, replicas, signal, onProgress }));
  const failures = failuresOf(figures);
  for (const table of tablesOf(figures)) print(`\n${renderTable(table)}`);
  for (const failure of failures) print(`failed: ${failure}`);
  if (failures.length === 0) print('\nheld: no key above its limit but by what the failover lost');
  if (json) console.log(JSON.stringify({ ...figures, failures }));
  return failures.length > 0 ? 1 : 0;
}

process.exitCode = await runProgram(parseArguments, USAGE, run);

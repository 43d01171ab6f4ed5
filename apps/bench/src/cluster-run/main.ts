/**
 * Replicas that share quotas on a real Redis Cluster, under load, while slots move back and forth and
 * a primary is killed. Tables go to stdout, or with `--json` one line of JSON, and the tables to
 * stderr; so does progress. Ends with code 1 where something was seen that should not be.
 */
import { abortOnSignal } from '../abort-on-signal.js';
import { renderTable } from '../report.js';
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

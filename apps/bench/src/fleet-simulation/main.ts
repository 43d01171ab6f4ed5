/**
 * What leases do to a fleet: overshoot, use of the quota and calls of the store, in virtual time.
 * A table goes to stdout, with `--json` followed by one line of JSON; progress goes to stderr. With
 * `--write` the figures of docs/leasing.md and its picture become those of this run.
 */
import { parseArgs } from 'node:util';
import { renderTable } from '../report.js';
import { type Comparison, compare } from './compare.js';
import { tableOf } from './rows.js';
import { type FleetScenario, SCENARIOS } from './scenarios.js';
import { writeDocs } from './write-docs.js';

const USAGE = `usage: npm run bench:leases -- [--json] [--seed <integer>] [--scenario <name>]...
       npm run bench:leases -- [--json] --write`;

/** Seen from where this program is built to. */
const DOCS = new URL('../../../docs/', import.meta.url);

interface Arguments {
  readonly json: boolean;
  readonly write: boolean;
  readonly seed: number;
  readonly scenarios: readonly FleetScenario[];
}

function parseArguments(args: readonly string[]): Arguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      seed: { type: 'string', default: '1' },
      scenario: { type: 'string', multiple: true, default: [] },
    },
  });
  if (!/^\d{1,9}$/.test(values.seed)) {
    throw new Error(`--seed must be an integer of at most 9 digits, not ${values.seed}`);
  }
  const names = SCENARIOS.map(({ name }) => name);
  const unknown = values.scenario.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new Error(`--scenario must be one of ${names.join(', ')}, not ${unknown}`);
  }
  if (values.write && (values.seed !== '1' || values.scenario.length > 0)) {
    throw new Error('--write is of all scenarios with seed 1: it takes no --seed or --scenario');
  }
  const wanted = SCENARIOS.filter(({ name }) => values.scenario.includes(name));
  return {
    json: values.json,
    write: values.write,
    seed: Number(values.seed),
    scenarios: wanted.length > 0 ? wanted : SCENARIOS,
  };
}

async function run({ json, write, seed, scenarios }: Arguments): Promise<void> {
  const comparisons: Comparison[] = [];
  for (const scenario of scenarios) {
    process.stderr.write(`simulating ${scenario.name} ...\n`);
    comparisons.push(await compare(scenario, seed));
  }
  const rows = comparisons.map(({ scenario, ours, usual }) => ({
    scenario: scenario.name,
    ...ours,
    usual,
  }));
  console.log(renderTable(tableOf(rows, seed)));
  if (json) console.log(JSON.stringify({ rows }));
  if (write) writeDocs(DOCS, comparisons, seed);
}

async function main(): Promise<number> {
  let parsed: Arguments;
  try {
    parsed = parseArguments(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${USAGE}\n`);
    return 2;
  }
  await run(parsed);
  return 0;
}

process.exitCode = await main();

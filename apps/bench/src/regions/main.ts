/**
 * One quota for two regions, in each of the set-ups of `docs/regions.md`: who crosses the regions, what
 * that takes, what is admitted, also while the cable between them is cut. Tables go to stdout, or with
 * `--json` one line of JSON, and the tables to stderr.
 */
import { abortOnSignal } from '../abort-on-signal.js';
import { percent } from '../fleet-simulation/percent.js';
import { formatNumber, renderTable } from '../report.js';
import type { Table } from '../scenario.js';
import { type Arguments, parseArguments, USAGE } from './arguments.js';
import { QUOTA, runSetUp, type SetUpFigures, TOTAL } from './run.js';

function tableOf({ setUp, phases, overshoot, total }: SetUpFigures): Table {
  return {
    title: `${setUp} (2 regions of 2 replicas, ${QUOTA} permits a second for both together)`,
    header: [
      ...['', 'decisions', 'admitted', 'by fallback', 'without crossing'],
      ...['p50 ms', 'p99 ms', 'max ms'],
    ],
    rows: phases.map((figures) => [
      figures.phase,
      formatNumber(figures.decisions),
      formatNumber(figures.admitted),
      formatNumber(figures.fallback),
      percent(figures.withoutCrossing),
      formatNumber(figures.p50Ms, 2),
      formatNumber(figures.p99Ms, 1),
      formatNumber(figures.maxMs, 1),
    ]),
    notes: [
      `Overshoot over any interval while connected: ${formatNumber(overshoot, 1)} permits.`,
      `Of ${formatNumber(TOTAL)} permits a day, ${formatNumber(total)} were admitted.`,
    ],
  };
}

async function run(asked: Arguments, signal: AbortSignal): Promise<void> {
  const { setUps, seconds, roundTripMs, json } = asked;
  const print = json ? console.error : console.log;
  const figures: SetUpFigures[] = [];
  for (const setUp of setUps) {
    const onPhase = (phase: string) => process.stderr.write(`${setUp.name}: ${phase} ...\n`);
    figures.push(await runSetUp(setUp, seconds, roundTripMs, signal, onPhase));
  }
  for (const one of figures) print(`\n${renderTable(tableOf(one))}`);
  if (json) console.log(JSON.stringify({ roundTripMs, seconds, setUps: figures }));
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
    await run(asked, interruption.signal);
    return 0;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    return interruption.exitCode() ?? 1;
  }
}

process.exitCode = await main();

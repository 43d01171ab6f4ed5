/**
 * One quota for two regions, in each of the set-ups of `docs/regions.md`: who crosses the regions, what
 * that takes, what is admitted, also while the cable between them is cut. Tables go to stdout, or with
 * `--json` one line of JSON, and the tables to stderr.
 */
import { percent } from '../fleet-simulation/percent.js';
import { formatNumber, renderTable } from '../report.js';
import { runProgram } from '../run-program.js';
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

async function run(asked: Arguments, signal: AbortSignal): Promise<number> {
  const { setUps, seconds, roundTripMs, json } = asked;
  const print = json ? console.error : console.log;
  const figures: SetUpFigures[] = [];
  for (const setUp of setUps) {
    const onPhase = (phase: string) => process.stderr.write(`${setUp.name}: ${phase} ...\n`);
    figures.push(await runSetUp(setUp, seconds, roundTripMs, signal, onPhase));
  }
  for (const one of figures) print(`\n${renderTable(tableOf(one))}`);
  if (json) console.log(JSON.stringify({ roundTripMs, seconds, setUps: figures }));
  return 0;
}

process.exitCode = await runProgram(parseArguments, USAGE, run);

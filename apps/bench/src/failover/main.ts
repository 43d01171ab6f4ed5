/**
 * What a failover of Redis gives out again, and what it costs to lose less. Tables go to stdout, or
 * with `--json` one line of JSON, and the tables to stderr; so does progress.
 */
import { renderTable } from '../report.js';
import { runProgram } from '../run-program.js';
import { type Arguments, parseArguments, USAGE } from './arguments.js';
import { CELLS, type Cell } from './cell.js';
import { type CellFigures, summarise } from './figures.js';
import { measurePrice, type Price } from './price.js';
import { lossTable, priceTable } from './tables.js';
import { runTrial, type Trial } from './trial.js';

/** A Sentinel takes its time, in which the machine has little to do. */
const AT_ONCE: Record<Cell['promotion'], number> = { command: 1, sentinel: 2 };

async function runCell(
  cell: Cell,
  { trials, timeoutMs }: Arguments,
  signal: AbortSignal,
): Promise<CellFigures> {
  const done: Trial[] = [];
  process.stderr.write(`${JSON.stringify(cell)} ...`);
  while (done.length < trials) {
    signal.throwIfAborted();
    const count = Math.min(AT_ONCE[cell.promotion], trials - done.length);
    const next = Array.from({ length: count }, () => runTrial(cell, timeoutMs, Math.random()));
    done.push(...(await Promise.all(next)));
    process.stderr.write(` ${done.length}`);
  }
  process.stderr.write('\n');
  return summarise(cell, done);
}

async function run(asked: Arguments, signal: AbortSignal): Promise<number> {
  const prices: Price[] = [];
  for (const linkMs of [0, 2]) {
    process.stderr.write(`price, link ${linkMs} ms ...\n`);
    prices.push(await measurePrice(linkMs, asked.timeoutMs, signal));
  }
  const print = asked.json ? console.error : console.log;
  print(`\n${renderTable(priceTable(prices, asked.timeoutMs))}`);
  const cells: CellFigures[] = [];
  for (const cell of CELLS) cells.push(await runCell(cell, asked, signal));
  print(`\n${renderTable(lossTable(cells))}`);
  if (asked.json) console.log(JSON.stringify({ timeoutMs: asked.timeoutMs, cells, prices }));
  return 0;
}

process.exitCode = await runProgram(parseArguments, USAGE, run);

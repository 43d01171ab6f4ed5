import { percent } from '../fleet-simulation/percent.js';
import { formatNumber } from '../report.js';
import type { Table } from '../scenario.js';
import type { CellFigures } from './figures.js';
import type { Price } from './price.js';

export function lossTable(cells: readonly CellFigures[]): Table {
  return {
    title: 'Permits given out again after a primary is killed under 10,000 calls a second',
    header: [
      'promoted by',
      'dies',
      'link ms',
      'leases',
      'WAIT',
      'trials',
      'mean',
      'median',
      'worst',
      'none',
      'unconfirmed',
    ],
    rows: cells.map(
      ({ promotion, death, linkMs, leased, durable, trials, again, unreplicated, told }) => [
        promotion,
        death,
        String(linkMs),
        leased ? 'yes' : 'no',
        durable ? 'yes' : 'no',
        String(trials),
        formatNumber(again.mean, 1),
        formatNumber(again.median, 1),
        formatNumber(again.worst),
        percent(again.noneShare),
        durable ? percent(unreplicated / told) : '',
      ],
    ),
    notes: [
      'dies: of a process what it had sent arrives; with a machine, what was on its way is lost.',
      'none: of the trials, how many gave out nothing again.',
      'unconfirmed: of the decisions, how many were told though the Redis replica may not have had them.',
    ],
  };
}

export function priceTable(prices: readonly Price[], timeoutMs: number): Table {
  return {
    title: `Decisions of one process with ${prices[0]?.inFlight} in flight; one WAIT takes ${timeoutMs} ms at most`,
    header: ['link ms', 'WAIT', 'per second', 'p50 ms', 'p99 ms', 'unconfirmed'],
    rows: prices.flatMap(({ linkMs, speeds }) =>
      speeds.map(({ durable, perSecond, p50Ms, p99Ms, unreplicatedShare }) => [
        String(linkMs),
        durable ? 'yes' : 'no',
        formatNumber(perSecond),
        formatNumber(p50Ms, 2),
        formatNumber(p99Ms, 2),
        durable ? percent(unreplicatedShare) : '',
      ]),
    ),
    notes: [`Medians of ${prices[0]?.rounds} rounds of a second each, in turn.`],
  };
}

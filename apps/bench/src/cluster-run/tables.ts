import { formatNumber } from '../report.js';
import type { Table } from '../scenario.js';
import type { RunFigures } from './figures.js';

/** What a run has shown, for readers. */
export function tablesOf(figures: RunFigures): readonly Table[] {
  const { groups, limit, calls, decidedBy, tookMs, slotMoves, promotedAfterMs } = figures;
  const { upAfterMs } = figures;
  const facts: [string, string][] = [
    ['calls', formatNumber(calls)],
    ...Object.entries(decidedBy).map(([by, count]): [string, string] => [by, formatNumber(count)]),
    ['p50 ms', formatNumber(tookMs.p50, 2)],
    ['p99 ms', formatNumber(tookMs.p99, 2)],
    ['max ms', formatNumber(tookMs.max, 1)],
    ['slot moves', formatNumber(slotMoves)],
    ['kill to promotion ms', formatNumber(promotedAfterMs)],
    ['kill to all replicas up ms', upAfterMs === undefined ? 'never' : formatNumber(upAfterMs)],
  ];
  return [
    {
      title: `Keys (limit ${formatNumber(limit)} each, nothing is refilled)`,
      header: ['keys', 'number', 'admitted', 'quota', 'above', 'lost', 'unanswered', 'uneven'],
      rows: Object.entries(groups).map(([name, group]) => [
        name,
        ...[group.keys, group.admitted, group.quota, group.overshoot].map((n) => formatNumber(n)),
        ...[group.lost, group.unanswered, group.uneven].map((n) => formatNumber(n)),
      ]),
      notes: [
        'killed: their primary was killed. moved: their slot was moved again and again.',
        'above: admitted above the limit of a key. lost: admitted, and unknown to the new primary.',
        'unanswered: charged, and answered after the deadline or not at all; nothing is admitted by it.',
        'uneven: charged under one of two policies of a call alone.',
      ],
    },
    { title: 'Decisions (only the store admits)', header: ['', ''], rows: facts, notes: [] },
  ];
}

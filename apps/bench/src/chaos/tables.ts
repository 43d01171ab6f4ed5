import { percent } from '../fleet-simulation/percent.js';
import { formatNumber } from '../report.js';
import type { Table } from '../scenario.js';
import type { FaultFigures } from './fault-figures.js';
import type { RunFigures } from './run-figures.js';

/** What a run has shown, for readers. */
export function tablesOf(figures: RunFigures): readonly Table[] {
  return [faultsTable(figures), decisionsTable(figures)];
}

function faultsTable({ faults, deadlineMs }: RunFigures): Table {
  return {
    title: `Faults (deadline ${deadlineMs} ms; hot key: 200 permits a second, burst 200)`,
    header: [
      ...['fault', 'lasts s', 'decisions', 'store', 'lease', 'memory', 'fallback', 'why'],
      ...['p50 ms', 'p99 ms', 'max ms', 'quiet p99', 'late', 'recovery s', 'outage s'],
      ...['admitted', 'quota', 'of refill', 'next window', 'overshoot', 'charged'],
    ],
    rows: faults.map(rowOf),
    notes: [
      'quiet p99: of decisions in which the event loop of the replica was not stalled.',
      'late: decisions above twice the deadline, those in a stall of the event loop + others.',
      'An outage lasts until every replica has recovered; admitted and quota are of that time.',
      'of refill: of the permits that came back in that time. next window: the second behind it.',
      'charged: permits of a quota that does not come back, from calm to calm, of those admitted.',
      'overshoot: above the policy, over every interval from the calm before to the calm behind.',
    ],
  };
}

function rowOf(fault: FaultFigures): string[] {
  const { byOrigin, tookMs, late, outage, firstWindow } = fault;
  return [
    fault.fault,
    seconds(fault.durationMs),
    formatNumber(fault.decisions),
    ...['store', 'lease', 'memory', 'fallback'].map((name) => formatNumber(byOrigin[name] ?? 0)),
    Object.keys(fault.byFault).join(' '),
    formatNumber(tookMs.p50, 2),
    formatNumber(tookMs.p99, 2),
    formatNumber(tookMs.max, 1),
    formatNumber(tookMs.undisturbedP99, 2),
    `${late.stalled} + ${late.unexplained}`,
    fault.recoveryMs === undefined ? 'none' : seconds(fault.recoveryMs),
    seconds(outage.durationMs),
    formatNumber(outage.admitted),
    formatNumber(outage.quota),
    percent(outage.shareOfRefill),
    `${firstWindow.admitted} of ${firstWindow.quota}`,
    formatNumber(fault.overshoot, 1),
    `${fault.ledger.charged} of ${fault.ledger.admitted}`,
  ];
}

function decisionsTable(figures: RunFigures): Table {
  const { overshoot, byOrigin, replicas } = figures;
  const stalls = replicas.map(({ stalls }) => stalls.longestMs);
  const rows: [string, string | number][] = [
    ['calls', formatNumber(figures.calls)],
    ['decisions', formatNumber(figures.decisions)],
    ...Object.entries(byOrigin).map(([name, count]): [string, string] => [
      `  by ${name}`,
      formatNumber(count),
    ]),
    ['thrown', Object.values(figures.thrown).reduce((sum, count) => sum + count, 0)],
    ['unhandled', figures.strays.length],
    ['unaccounted', figures.unaccounted],
    ['late in a stall', figures.lateStalled],
    ['late without', figures.lateUnexplained],
    ['longest stall, ms', formatNumber(Math.max(...stalls), 1)],
    ['overshoot while the store is up', formatNumber(overshoot.calm, 1)],
    ['overshoot around outages', formatNumber(overshoot.outages, 1)],
    ['overshoot where buckets were lost', formatNumber(overshoot.emptied, 1)],
    ...Object.entries(figures.events).map(([type, count]): [string, number] => [
      `event ${type}`,
      count,
    ]),
  ];
  return {
    title: `All ${replicas.length} replicas, ${seconds(figures.durationMs)} s`,
    header: ['', ''],
    rows: rows.map(([name, value]) => [name, String(value)]),
    notes: [],
  };
}

function seconds(ms: number): string {
  return formatNumber(ms / 1000, 2);
}

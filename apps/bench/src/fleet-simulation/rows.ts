import type { Table } from '../scenario.js';
import { percent } from './percent.js';
import type { FleetFigures } from './simulate.js';

/** One scenario: our leases, and as they usually are. */
export interface Row extends FleetFigures {
  readonly scenario: string;
  /** The usual leasing, asked the same. */
  readonly usual: FleetFigures;
}

/** The rows for readers. */
export function tableOf(rows: readonly Row[], seed: number): Table {
  const cells = (figures: FleetFigures) => [
    percent(figures.overshootAtStore),
    percent(figures.overshootAtReplicas),
    percent(figures.use),
    figures.callsPerRequest.toFixed(3),
    percent(figures.local),
  ];
  return {
    title: `Leases in a simulated fleet, seed ${seed}`,
    header: ['scenario', 'leases', 'overshoot', 'at replicas', 'use', 'calls/request', 'local'],
    rows: rows.flatMap((row) => [
      [row.scenario, 'ours', ...cells(row)],
      ['', 'usual', ...cells(row.usual)],
    ]),
    notes: [
      'overshoot: beyond the quota when admissions are decided, as a share of the burst.',
      'at replicas: the same when the replica learns of them.',
      'use: admitted ÷ what one exact bucket asked by the same requests admits.',
      'local: requests answered at once, without waiting for the store.',
    ],
  };
}

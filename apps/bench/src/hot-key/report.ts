import { formatNumber, formatRounds } from '../report.js';
import { figuresOf, type Round } from '../rounds.js';
import type { Figures, Table } from '../scenario.js';
import { median, significant } from '../statistics.js';

/** The bucket that the others are compared with. */
export const WHOLE = 'oneBucket';

/** Of one contender in one round. */
export interface Measurement {
  /** Script time of the primary that has most, for each call. */
  readonly busiestUs: number;
  /** Of all primaries together. */
  readonly totalUs: number;
  readonly scriptCalls: number;
  readonly deniedShare: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** In a closed loop. */
  readonly perSecond: number;
}

/** Median over the rounds of the busiest primary's script time ÷ that of the one bucket's in the round. */
export function ratioToWhole(rounds: readonly Round<Measurement>[], name: string): number {
  const whole = figuresOf(rounds, WHOLE, (m) => m.busiestUs);
  const own = figuresOf(rounds, name, (m) => m.busiestUs);
  return median(own.map((us, i) => us / (whole[i] as number)));
}

/** The JSON. */
export function gameFigures(rounds: readonly Round<Measurement>[]): Figures {
  const figures: Record<string, Figures> = {};
  for (const name of namesIn(rounds)) {
    const of = (figure: (m: Measurement) => number) =>
      significant(median(figuresOf(rounds, name, figure)));
    figures[name] = {
      busiestPrimaryVsOneBucket: significant(ratioToWhole(rounds, name)),
      busiestPrimaryUsPerCall: of((m) => m.busiestUs),
      scriptUsPerCall: of((m) => m.totalUs),
      scriptCallsPerCall: of((m) => m.scriptCalls),
      deniedShare: of((m) => m.deniedShare),
      p50Ms: of((m) => m.p50Ms),
      p99Ms: of((m) => m.p99Ms),
      perSecond: of((m) => m.perSecond),
    };
  }
  return { rounds: rounds.length, ...figures };
}

/** The same for readers. */
export function gameTable(title: string, rounds: readonly Round<Measurement>[]): Table {
  const rows = namesIn(rounds).map((name) => {
    const of = (figure: (m: Measurement) => number, digits: number) =>
      formatRounds(figuresOf(rounds, name, figure), digits);
    const denied = median(figuresOf(rounds, name, (m) => m.deniedShare));
    return [
      name,
      of((m) => m.busiestUs, 2),
      ratioToWhole(rounds, name).toFixed(3),
      of((m) => m.totalUs, 2),
      median(figuresOf(rounds, name, (m) => m.scriptCalls)).toFixed(3),
      `${formatNumber(100 * denied, 2)} %`,
      of((m) => m.p50Ms, 2),
      of((m) => m.p99Ms, 2),
      of((m) => m.perSecond, 0),
    ];
  });
  return {
    title,
    header: [
      'kept as',
      'busiest primary, µs a call',
      '÷ one bucket',
      'all primaries, µs',
      'scripts a call',
      'denied',
      'p50 ms',
      'p99 ms',
      'closed loop/s',
    ],
    rows,
    notes: [],
  };
}

function namesIn(rounds: readonly Round<Measurement>[]): string[] {
  return [...(rounds[0]?.keys() ?? [])];
}

import { formatRounds } from '../report.js';
import { figuresOf, type Round, ratioToBestPeer } from '../rounds.js';
import { type Figures, OURS, type Table } from '../scenario.js';
import type { AppName } from '../servers/order.js';
import { median, significant } from '../statistics.js';

/** The app without a limiter. */
export const BARE = 'bare';
export const EXPRESS_RATE_LIMIT = 'expressRateLimit';

/** Of one server in one round. */
export interface Measurement {
  /** CPU time of the server's process for each request. */
  readonly cpuUs: number;
  readonly perSecond: number;
  /** Calls of the store for each request. */
  readonly storeCalls: number;
}

/** The rounds of each framework. */
export type Games = ReadonlyMap<AppName, readonly Round<Measurement>[]>;

/** The JSON. */
export function cpuFigures(games: Games): Figures {
  const ratios: Record<string, number> = {};
  const medians: Record<string, Figures> = {};
  let played = 0;
  for (const [framework, rounds] of games) {
    played = rounds.length;
    const names = namesIn(rounds);
    ratios[framework] = significant(ratioToBare(rounds, OURS));
    if (names.includes(EXPRESS_RATE_LIMIT)) {
      ratios[EXPRESS_RATE_LIMIT] = significant(ratioToBare(rounds, EXPRESS_RATE_LIMIT));
    }
    medians[framework] = Object.fromEntries(
      names.map((name) => {
        const of = (figure: (measurement: Measurement) => number): number =>
          significant(median(figuresOf(rounds, name, figure)));
        const figures = {
          cpuUsPerRequest: of((m) => m.cpuUs),
          requestsPerSecond: of((m) => m.perSecond),
          storeCallsPerRequest: of((m) => m.storeCalls),
        };
        return [name, figures];
      }),
    );
  }
  return { cpuVsBare: ratios, cpu: { rounds: played, ...medians } };
}

/** The same for readers. */
export function cpuTable(games: Games, connections: number): Table {
  const rows: string[][] = [];
  for (const [framework, rounds] of games) {
    for (const name of namesIn(rounds)) {
      const of = (figure: (m: Measurement) => number, digits: number): string =>
        formatRounds(figuresOf(rounds, name, figure), digits);
      rows.push([
        `${framework}, ${name}`,
        of((m) => m.cpuUs, 1),
        name === BARE ? '' : ratioToBare(rounds, name).toFixed(3),
        of((m) => m.perSecond, 0),
        median(figuresOf(rounds, name, (m) => m.storeCalls)).toFixed(4),
      ]);
    }
  }
  return {
    title: `lease-cpu: one server, ${connections} connections with one request each`,
    header: ['app', 'server CPU, µs each', '÷ bare', 'requests/s', 'store calls each'],
    rows,
    notes: [],
  };
}

function ratioToBare(rounds: readonly Round<Measurement>[], name: string): number {
  return ratioToBestPeer(rounds, name, [BARE], (m) => m.cpuUs, 'lowest');
}

/** In the order of the first round, which is that of the contenders. */
function namesIn(rounds: readonly Round<Measurement>[]): string[] {
  return [...(rounds[0]?.keys() ?? [])];
}

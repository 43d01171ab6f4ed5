import { formatNumber, formatRounds } from '../report.js';
import { figuresOf, type Round, ratioToBestPeer } from '../rounds.js';
import { type Figures, KEYS, OURS, type Table } from '../scenario.js';
import { median, significant } from '../statistics.js';

/** One load the contenders are compared under. */
export interface Level {
  /** Its place in the JSON. */
  readonly name: string;
  readonly inFlight: number;
  /** Whether the clients collect the commands of one turn of the event loop into one write. */
  readonly autoPipelining: boolean;
}

/** Of one contender in one round. CPU time is for each decision. */
export interface Measurement {
  readonly perSecond: number;
  readonly clientCpuUs: number;
  readonly redisCpuUs: number;
}

interface Ratios {
  readonly vsBestPeer: number;
  readonly cpuVsBestPeer: number;
  readonly redisCpuVsBestPeer: number;
}

type Rounds = readonly Round<Measurement>[];

/** The JSON of a level. */
export function levelFigures(rounds: Rounds): Figures {
  const contenders = namesIn(rounds).map((name): [string, Figures] => {
    const of = (figure: (measurement: Measurement) => number): number =>
      significant(median(figuresOf(rounds, name, figure)));
    return [
      name,
      {
        decisionsPerSecond: of((m) => m.perSecond),
        clientCpuUsPerDecision: of((m) => m.clientCpuUs),
        redisCpuUsPerDecision: of((m) => m.redisCpuUs),
      },
    ];
  });
  const { vsBestPeer, cpuVsBestPeer, redisCpuVsBestPeer } = ratiosOf(rounds);
  return {
    vsBestPeer: significant(vsBestPeer),
    cpuVsBestPeer: significant(cpuVsBestPeer),
    redisCpuVsBestPeer: significant(redisCpuVsBestPeer),
    contenders: Object.fromEntries(contenders),
  };
}

/** The same for readers. */
export function levelTable({ inFlight, autoPipelining }: Level, rounds: Rounds): Table {
  const { vsBestPeer, cpuVsBestPeer, redisCpuVsBestPeer } = ratiosOf(rounds);
  const rows = namesIn(rounds).map((name) => {
    const cell = (figure: (measurement: Measurement) => number, digits: number): string =>
      formatRounds(figuresOf(rounds, name, figure), digits);
    return [
      name,
      cell((m) => m.perSecond, 0),
      cell((m) => m.clientCpuUs, 2),
      cell((m) => m.redisCpuUs, 2),
    ];
  });
  return {
    title:
      `exact: one Redis, ${formatNumber(KEYS.length)} keys, ${inFlight} checks in flight` +
      (autoPipelining ? ', clients with enableAutoPipelining' : ''),
    header: ['contender', 'decisions/s', 'client CPU, µs each', 'Redis CPU, µs each'],
    rows,
    notes: [
      `Against the best peer of each round: ${vsBestPeer.toFixed(2)} × its decisions, each with ` +
        `${cpuVsBestPeer.toFixed(2)} × its client CPU and ` +
        `${redisCpuVsBestPeer.toFixed(2)} × its Redis CPU.`,
    ],
  };
}

function ratiosOf(rounds: Rounds): Ratios {
  const peers = namesIn(rounds).filter((name) => name !== OURS);
  return {
    vsBestPeer: ratioToBestPeer(rounds, OURS, peers, (m) => m.perSecond, 'highest'),
    cpuVsBestPeer: ratioToBestPeer(rounds, OURS, peers, (m) => m.clientCpuUs, 'lowest'),
    redisCpuVsBestPeer: ratioToBestPeer(rounds, OURS, peers, (m) => m.redisCpuUs, 'lowest'),
  };
}

/** In the order of the first round, which is that of the contenders. */
function namesIn(rounds: Rounds): string[] {
  return [...(rounds[0]?.keys() ?? [])];
}

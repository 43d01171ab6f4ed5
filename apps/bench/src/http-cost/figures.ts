import { formatRounds } from '../report.js';
import { figuresOf, type Round, ratiosToBestPeer } from '../rounds.js';
import type { Figures, Table } from '../scenario.js';
import { median, quantile, significant } from '../statistics.js';
import { BARE, OURS_EXACT, OURS_LOCAL } from './contenders.js';
import { CONNECTIONS, type FrameworkRun, type Measurement } from './play.js';

/** The JSON of one framework. */
export function figuresOfRun(run: FrameworkRun): Figures {
  const { contenders, rounds, accounts } = run;
  const local = vsBare(rounds, OURS_LOCAL);
  const exact = addedVsBestPeer(run, OURS_EXACT);
  const servers = contenders.map(({ name }): [string, Figures] => {
    const of = (figure: (measurement: Measurement) => number): number[] =>
      figuresOf(rounds, name, figure);
    const { answered, counted, headers } = accounts.get(name) ?? {};
    const figures = {
      cpuUsPerRequest: spread(of((m) => m.cpuUs)),
      vsBare: spread(vsBare(rounds, name)),
      addedUs: spread(figuresOf(addedTo(rounds), name, (us) => us)),
      requestsPerSecond: significant(median(of((m) => m.perSecond))),
      storeCallsPerRequest: significant(median(of((m) => m.storeCalls))),
      ...(answered !== undefined && { answered }),
      ...(counted !== undefined && { counted }),
      headers: headers?.join(', ') ?? '',
    };
    return [name, figures];
  });
  return {
    localVsBare: significant(median(local)),
    exactAddedVsBestPeer: significant(median(exact)),
    spread: { localVsBare: spread(local), exactAddedVsBestPeer: spread(exact) },
    rounds: rounds.length,
    servers: Object.fromEntries(servers),
  };
}

/** The same for readers. */
export function tableOfRun(run: FrameworkRun): Table {
  const { app, contenders, rounds } = run;
  const rows = contenders.map(({ name, limits }) => {
    const of = (figure: (measurement: Measurement) => number, digits: number): string =>
      formatRounds(figuresOf(rounds, name, figure), digits);
    return [
      name,
      of((m) => m.cpuUs, 1),
      name === BARE ? '' : formatRounds(vsBare(rounds, name), 3),
      limits?.counts === 'redis' ? formatRounds(addedVsBestPeer(run, name), 3) : '',
      of((m) => m.perSecond, 0),
      median(figuresOf(rounds, name, (m) => m.storeCalls)).toFixed(3),
    ];
  });
  return {
    title: `${app}: ${CONNECTIONS} connections with one request each, ${rounds.length} rounds`,
    header: [
      'server',
      'CPU, µs each',
      '÷ bare',
      'added ÷ best peer',
      'requests/s',
      'Redis calls each',
    ],
    rows,
    notes: [],
  };
}

/** Of the peers, the one that adds least in the round. Its ratio to itself is 1 or a little above. */
function addedVsBestPeer({ contenders, rounds }: FrameworkRun, name: string): number[] {
  const peers = contenders.filter(({ exactPeer }) => exactPeer).map((peer) => peer.name);
  return ratiosToBestPeer(addedTo(rounds), name, peers, (us) => us, 'lowest');
}

/** What each server uses above the bare one of the same round, for each request. */
function addedTo(rounds: readonly Round<Measurement>[]): Round<number>[] {
  const bare = figuresOf(rounds, BARE, (m) => m.cpuUs);
  return rounds.map(
    (round, i) => new Map([...round].map(([name, m]) => [name, m.cpuUs - (bare[i] as number)])),
  );
}

function vsBare(rounds: readonly Round<Measurement>[], name: string): number[] {
  return ratiosToBestPeer(rounds, name, [BARE], (m) => m.cpuUs, 'lowest');
}

/** The median and the quartiles on both sides of it. */
function spread(values: readonly number[]): Figures {
  return {
    median: significant(median(values)),
    lower: significant(quantile(values, 0.25)),
    upper: significant(quantile(values, 0.75)),
  };
}

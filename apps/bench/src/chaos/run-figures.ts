import { availableParallelism, loadavg } from 'node:os';
import type { ReplicaAccount } from './account.js';
import { countBy } from './counts.js';
import { type FaultFigures, figuresOf } from './fault-figures.js';
import { countLate } from './lateness.js';
import { overshootOf } from './overshoot.js';
import type { Run } from './run.js';
import { HOT } from './traffic.js';

/** What a run has shown. Durations in ms. */
export interface RunFigures {
  readonly node: string;
  readonly redisVersion: string;
  readonly cpus: number;
  /** Of the machine in the last minute. */
  readonly load: number;
  readonly seed: number;
  readonly deadlineMs: number;
  readonly durationMs: number;
  readonly calls: number;
  readonly decisions: number;
  /** Calls that got neither a decision nor an error. */
  readonly unaccounted: number;
  /** Calls that threw, by what the error said. */
  readonly thrown: Readonly<Record<string, number>>;
  /** Unhandled rejections and uncaught exceptions. */
  readonly strays: readonly string[];
  readonly byOrigin: Readonly<Record<string, number>>;
  readonly lateStalled: number;
  readonly lateUnexplained: number;
  /** Of the hot key, above the policy, in permits: the most over all intervals of a kind. */
  readonly overshoot: {
    /** While the store was up. */
    readonly calm: number;
    /** With an outage in them or beside them. */
    readonly outages: number;
    /** The same where the server came back empty. */
    readonly emptied: number;
  };
  readonly events: Readonly<Record<string, number>>;
  /** What limiters told of the state of the store and of the number of replicas, as it came. */
  readonly timeline: readonly TimedEvent[];
  readonly replicas: readonly ReplicaFigures[];
  readonly faults: readonly FaultFigures[];
}

export interface TimedEvent {
  /** Since the run began. */
  readonly atMs: number;
  readonly replica: number;
  readonly type: string;
  readonly detail: string;
}

export interface ReplicaFigures {
  readonly calls: number;
  /** How its limiter stood with the store at the end. */
  readonly store: string;
  readonly counted: number;
  readonly owed: number;
  /** Who made its last decision of a call that no lease may decide. */
  readonly lastOrigin: string;
  readonly stalls: {
    readonly count: number;
    readonly longestMs: number;
    /** The longest of those in which it was busy for most of the time. */
    readonly longestOwnMs: number;
  };
  /** The longest that a call was due and not made. */
  readonly mostLateMs: number;
}

export function summarise(run: Run, seed: number, deadlineMs: number): RunFigures {
  const { accounts } = run;
  const observations = accounts.flatMap((account) => account.observations);
  const thrown: Record<string, number> = {};
  for (const [says, count] of accounts.flatMap((account) => [...account.thrown])) {
    thrown[says] = (thrown[says] ?? 0) + count;
  }
  const calls = sum(accounts.map((account) => account.calls));
  const late = accounts.map((account) =>
    countLate(account.observations, account.stalls, deadlineMs),
  );
  const faults = figuresOf(run, deadlineMs);
  const firstCalm = observations.filter(
    ({ kind, allowed, atMs, tookMs }) =>
      kind === 'hot' && allowed && atMs + tookMs <= (run.faults[0]?.fromMs ?? run.toMs),
  );
  const most = (values: readonly number[]): number => Math.max(0, ...values);
  return {
    node: process.versions.node,
    redisVersion: run.redisVersion,
    cpus: availableParallelism(),
    load: loadavg()[0] as number,
    seed,
    deadlineMs,
    durationMs: run.toMs - run.fromMs,
    calls,
    decisions: observations.length,
    unaccounted: calls - observations.length - sum(Object.values(thrown)),
    thrown,
    strays: accounts.flatMap(({ strays }) => strays),
    byOrigin: countBy(observations, ({ origin }) => origin),
    lateStalled: sum(late.map(({ stalled }) => stalled)),
    lateUnexplained: sum(late.map(({ unexplained }) => unexplained)),
    overshoot: {
      calm: most([overshootOf(firstCalm, HOT), ...faults.map((one) => one.calmOvershoot)]),
      outages: most(faults.filter((one) => !one.losesBuckets).map((one) => one.overshoot)),
      emptied: most(faults.filter((one) => one.losesBuckets).map((one) => one.overshoot)),
    },
    events: countBy(
      accounts.flatMap(({ events }) => events),
      ({ type }) => type,
    ),
    timeline: timelineOf(run),
    replicas: accounts.map(replicaFigures),
    faults,
  };
}

/** Without the events that come by the hundred. */
function timelineOf({ accounts, fromMs }: Run): TimedEvent[] {
  const all = accounts.flatMap(({ events }, replica) =>
    events.map(({ atMs, type, detail }) => ({ atMs: atMs - fromMs, replica, type, detail })),
  );
  return all
    .filter(({ type }) => type !== 'store-failed' && type !== 'reconciled')
    .sort((a, b) => a.atMs - b.atMs);
}

function replicaFigures(account: ReplicaAccount): ReplicaFigures {
  const { calls, health, stalls, observations, mostLateMs } = account;
  const longest = (some: ReplicaAccount['stalls']): number =>
    some.reduce((most, { fromMs, toMs }) => Math.max(most, toMs - fromMs), 0);
  const own = stalls.filter(({ fromMs, toMs, cpuMs }) => cpuMs > (toMs - fromMs) / 2);
  const plain = observations.filter(({ kind }) => kind === 'hot' || kind === 'cool');
  return {
    calls,
    store: health.store,
    counted: health.replicas,
    owed: health.owed,
    lastOrigin: plain.at(-1)?.origin ?? 'none',
    stalls: { count: stalls.length, longestMs: longest(stalls), longestOwnMs: longest(own) },
    mostLateMs,
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

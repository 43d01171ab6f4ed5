import { quantile } from '../statistics.js';
import type { Observation, ReplicaAccount } from './account.js';
import { countBy } from './counts.js';
import { countLate, type Late, stalledMs } from './lateness.js';
import { type Admitted, admittedBetween, overshootOf, quotaOf } from './overshoot.js';
import { recoveryMs } from './recovery.js';
import type { PastFault, Run } from './run.js';
import { HOT } from './traffic.js';

/** What a fault did. An outage lasts from its beginning until every replica has recovered. */
export interface FaultFigures {
  readonly fault: string;
  readonly losesBuckets: boolean;
  /** Since the run began. */
  readonly startMs: number;
  readonly durationMs: number;
  /** Asked for while it lasted. */
  readonly decisions: number;
  readonly byOrigin: Readonly<Record<string, number>>;
  /** Of those by the fallback: why. */
  readonly byFault: Readonly<Record<string, number>>;
  readonly tookMs: {
    readonly p50: number;
    readonly p99: number;
    /** Of decisions in which the event loop of the replica was not stalled. */
    readonly undisturbedP99: number;
    readonly max: number;
  };
  readonly late: Late;
  /** Of the hot key. */
  readonly outage: {
    readonly durationMs: number;
    readonly admitted: number;
    readonly quota: number;
    /** Part of what came back in that time: without what a full bucket would have held. */
    readonly shareOfRefill: number;
  };
  /** From the end of the fault to the last replica's recovery; undefined where one had none. */
  readonly recoveryMs: number | undefined;
  /** Of the hot key, in one window from the last recovery on. */
  readonly firstWindow: { readonly admitted: number; readonly quota: number };
  /** Of the hot key, the most over all intervals between the calm before and the calm behind. */
  readonly overshoot: number;
  /** The same over intervals of the calm behind alone. */
  readonly calmOvershoot: number;
  /**
   * Permits of the policy `ledger`: admitted from the calm before to the end of the calm behind, and
   * charged to the server. Calls on their way make a difference of a few.
   */
  readonly ledger: { readonly admitted: number; readonly charged: number };
}

/** @param deadlineMs what the limiters' fallback has */
export function figuresOf(run: Run, deadlineMs: number): readonly FaultFigures[] {
  const hot = run.accounts.flatMap(({ observations }) =>
    observations.filter(({ kind, allowed }) => kind === 'hot' && allowed),
  );
  const ledger = run.accounts.flatMap(({ observations }) =>
    observations.filter(({ kind, allowed }) => kind === 'ledger' && allowed),
  );
  let calmFromMs = run.fromMs;
  return run.faults.map((fault, i) => {
    const untilMs = run.faults[i + 1]?.fromMs ?? run.toMs;
    const recovery = lastRecoveryMs(run.accounts, fault.toMs, untilMs);
    const recoveredMs = fault.toMs + (recovery ?? untilMs - fault.toMs);
    const around = between(hot, calmFromMs, untilMs);
    calmFromMs = recoveredMs;
    const before = run.faults[i - 1] ?? run;
    return {
      fault: fault.name,
      losesBuckets: fault.losesBuckets,
      startMs: fault.fromMs - run.fromMs,
      durationMs: fault.toMs - fault.fromMs,
      ...during(run.accounts, fault, deadlineMs),
      outage: outageOf(around, fault.fromMs, recoveredMs),
      recoveryMs: recovery,
      firstWindow: {
        admitted: admittedBetween(around, recoveredMs, recoveredMs + HOT.windowMs),
        quota: quotaOf(HOT, HOT.windowMs),
      },
      overshoot: overshootOf(around, HOT),
      ledger: {
        admitted: ledger.filter(
          ({ atMs, tookMs }) =>
            atMs + tookMs >= before.chargedAtMs && atMs + tookMs < fault.chargedAtMs,
        ).length,
        charged: fault.charged - (fault.losesBuckets ? 0 : before.charged),
      },
      calmOvershoot: overshootOf(between(around, recoveredMs, untilMs), HOT),
    };
  });
}

function between<T extends Admitted>(all: readonly T[], fromMs: number, toMs: number): T[] {
  return all.filter(({ atMs, tookMs }) => atMs >= fromMs && atMs + tookMs <= toMs);
}

function during(
  accounts: readonly ReplicaAccount[],
  { fromMs, toMs }: PastFault,
  deadlineMs: number,
): Pick<FaultFigures, 'decisions' | 'byOrigin' | 'byFault' | 'tookMs' | 'late'> {
  const all: Observation[] = [];
  const undisturbed: Observation[] = [];
  let late: Late = { stalled: 0, unexplained: 0 };
  for (const { observations, stalls } of accounts) {
    const own = observations.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
    all.push(...own);
    undisturbed.push(
      ...own.filter(({ atMs, tookMs }) => stalledMs(stalls, atMs, atMs + tookMs) === 0),
    );
    const { stalled, unexplained } = countLate(own, stalls, deadlineMs);
    late = { stalled: late.stalled + stalled, unexplained: late.unexplained + unexplained };
  }
  const times = all.map(({ tookMs }) => tookMs);
  const undisturbedTimes = undisturbed.map(({ tookMs }) => tookMs);
  return {
    decisions: all.length,
    byOrigin: countBy(all, ({ origin }) => origin),
    byFault: countBy(
      all.filter(({ fault }) => fault !== undefined),
      ({ fault }) => fault as string,
    ),
    tookMs: {
      p50: at(times, 0.5),
      p99: at(times, 0.99),
      undisturbedP99: at(undisturbedTimes, 0.99),
      max: at(times, 1),
    },
    late,
  };
}

function outageOf(hot: readonly Admitted[], fromMs: number, toMs: number): FaultFigures['outage'] {
  const durationMs = toMs - fromMs;
  const admitted = admittedBetween(hot, fromMs, toMs);
  return {
    durationMs,
    admitted,
    quota: quotaOf(HOT, durationMs),
    shareOfRefill: admitted / (HOT.perMs * durationMs),
  };
}

function lastRecoveryMs(
  accounts: readonly ReplicaAccount[],
  fromMs: number,
  untilMs: number,
): number | undefined {
  const each = accounts.map(({ observations }) => recoveryMs(observations, fromMs, untilMs));
  const known = each.filter((ms) => ms !== undefined);
  return known.length === each.length ? Math.max(...known) : undefined;
}

/** A quantile; 0 where there was nothing. */
function at(values: readonly number[], share: number): number {
  return values.length === 0 ? 0 : quantile(values, share);
}

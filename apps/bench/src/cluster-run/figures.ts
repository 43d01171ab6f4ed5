import { quantile } from '../statistics.js';
import type { KeyAccount, Run } from './run.js';

/** The keys of a group, in sum. */
export interface GroupFigures {
  readonly keys: number;
  readonly admitted: number;
  readonly quota: number;
  /** Above the limit of a key. */
  readonly overshoot: number;
  /** Admitted, and not charged by the end: what a failover has lost. */
  readonly lost: number;
  /** Charged, and not admitted: answered too late, or not at all. */
  readonly unanswered: number;
  /** Charged under one of two policies alone. */
  readonly uneven: number;
}

/** A run, as the JSON has it. */
export interface RunFigures {
  readonly calls: number;
  readonly decidedBy: Readonly<Record<string, number>>;
  readonly thrown: Readonly<Record<string, number>>;
  readonly tookMs: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly limit: number;
  readonly slotMoves: number;
  readonly promotedAfterMs: number;
  readonly upAfterMs: number | undefined;
  readonly stores: readonly string[];
  readonly groups: Readonly<Record<KeyAccount['group'], GroupFigures>>;
}

export function summarise(run: Run): RunFigures {
  const { account, limit, keys, slotMoves, promotedAfterMs, upAfterMs, stores } = run;
  const { tookMs } = account;
  const group = (name: KeyAccount['group']) =>
    groupFigures(
      keys.filter((key) => key.group === name),
      limit,
    );
  return {
    calls: account.calls,
    decidedBy: Object.fromEntries(account.decidedBy),
    thrown: Object.fromEntries(account.thrown),
    tookMs: {
      p50: quantile(tookMs, 0.5),
      p99: quantile(tookMs, 0.99),
      max: quantile(tookMs, 1),
    },
    limit,
    slotMoves,
    promotedAfterMs,
    upAfterMs,
    stores,
    groups: { killed: group('killed'), moved: group('moved'), calm: group('calm') },
  };
}

function groupFigures(keys: readonly KeyAccount[], limit: number): GroupFigures {
  const sum = (of: (key: KeyAccount) => number) => keys.reduce((total, key) => total + of(key), 0);
  return {
    keys: keys.length,
    admitted: sum(({ admitted }) => admitted),
    quota: keys.length * limit,
    overshoot: sum(({ admitted }) => Math.max(0, admitted - limit)),
    lost: sum(({ admitted, charged }) => Math.max(0, admitted - charged)),
    unanswered: sum(({ admitted, charged }) => Math.max(0, charged - admitted)),
    uneven: sum(({ charged, pairCharged = charged }) => Math.abs(charged - pairCharged)),
  };
}

/** What a run has shown that should not be: a line for each, none where all is well. */
export function failuresOf(figures: RunFigures): readonly string[] {
  const { calls, decidedBy, thrown, slotMoves, upAfterMs, groups } = figures;
  const failures = Object.entries(thrown).map(([says, count]) => `${count} calls threw: ${says}`);
  const decided = Object.values(decidedBy).reduce((total, count) => total + count, 0);
  if (decided !== calls) failures.push(`${calls - decided} of ${calls} calls were not decided`);
  for (const name of ['moved', 'calm'] as const) {
    const { overshoot, lost } = groups[name];
    if (overshoot > 0) failures.push(`${overshoot} permits above the limit of ${name} keys`);
    if (lost > 0) failures.push(`${lost} permits of ${name} keys admitted and not charged`);
  }
  const { overshoot, lost } = groups.killed;
  if (overshoot > lost) failures.push('more above the limit than the failover has lost');
  if (slotMoves < 2) failures.push(`only ${slotMoves} slot moves`);
  if (upAfterMs === undefined) failures.push('not every replica asked the store again');
  return failures;
}

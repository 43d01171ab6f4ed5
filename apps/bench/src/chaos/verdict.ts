import type { FaultFigures } from './fault-figures.js';
import type { RunFigures } from './run-figures.js';

/** How long a replica may take to ask the store again, when that has answered again. */
const RECOVERY_MS = 2000;

/** What timers may add to the deadline, for 99 of 100 decisions. */
const TIMERS_MS = 2;

/** What a run has shown that should not be: a line for each, none where all is well. */
export function failuresOf(figures: RunFigures): readonly string[] {
  const { thrown, strays, unaccounted, lateUnexplained, deadlineMs } = figures;
  const failures: string[] = [];
  for (const [says, count] of Object.entries(thrown))
    failures.push(`${count} calls threw: ${says}`);
  failures.push(...strays);
  if (unaccounted > 0) failures.push(`${unaccounted} calls got no answer`);
  if (lateUnexplained > 0) {
    failures.push(
      `${lateUnexplained} decisions took more than ${2 * deadlineMs} ms without a stall`,
    );
  }
  for (const fault of figures.faults) failures.push(...failuresUnder(fault, deadlineMs));
  return failures;
}

function failuresUnder(
  { fault, recoveryMs, outage, tookMs }: FaultFigures,
  deadlineMs: number,
): string[] {
  const failures: string[] = [];
  if (recoveryMs === undefined) {
    failures.push('not every replica recovered before the next fault');
  } else if (recoveryMs > RECOVERY_MS) {
    failures.push(`a replica recovered only after ${Math.round(recoveryMs)} ms`);
  }
  if (outage.admitted > outage.quota) {
    failures.push(`${outage.admitted} permits were admitted of ${Math.floor(outage.quota)}`);
  }
  if (tookMs.undisturbedP99 > deadlineMs + TIMERS_MS) {
    const p99 = tookMs.undisturbedP99.toFixed(1);
    failures.push(`of decisions without a stall the 99th percentile took ${p99} ms`);
  }
  return failures.map((failure) => `${fault}: ${failure}`);
}

/**
 * Permits that were spent no earlier than `fromMs` and no later than `toMs`, by the store's clock in
 * whole milliseconds. Where a clock is read before and after, these are the two readings.
 */
export interface Admission {
  readonly fromMs: number;
  readonly toMs: number;
  readonly permits: number;
}

/**
 * By how many permits the worst interval is above burst + rate × its length; below 0 where none is.
 * An admission counts for the intervals it was certainly in. The store decides by the millisecond,
 * so that no allowance for how its clock is read is needed.
 */
export function worstOvershoot(
  admissions: readonly Admission[],
  burst: number,
  permitsPerMs: number,
): number {
  const byEnd = [...admissions].sort((a, b) => a.toMs - b.toMs);
  let worst = -burst;
  for (const fromMs of new Set(byEnd.map((admission) => admission.fromMs))) {
    let spent = 0;
    for (const admission of byEnd) {
      if (admission.fromMs < fromMs) continue;
      spent += admission.permits;
      worst = Math.max(worst, spent - burst - permitsPerMs * (admission.toMs - fromMs));
    }
  }
  return worst;
}

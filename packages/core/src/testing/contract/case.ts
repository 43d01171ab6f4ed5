import type { PolicyOptions } from '../../policy/policy.js';

/** One call and what must come of it. Fields that are left out are not compared. */
export interface Step {
  /** Milliseconds since the start of the case; may go back. */
  readonly atMs: number;
  /** The policy's values from this step on; its name stays. */
  readonly policy?: PolicyOptions;
  readonly do?: 'consume' | 'peek' | 'refund' | 'overcharge' | 'reset';
  /** Default 1; the permits of a refund or overcharge. */
  readonly cost?: number;
  /** Of a refund: when the permits were taken. Left out: not told. */
  readonly takenAtMs?: number;
  /** Repeats the call; all must come out the same but for `remaining`, which is the last one's. */
  readonly times?: number;
  readonly allowed?: boolean;
  readonly remaining?: number;
  readonly retryAfterMs?: number | undefined;
  readonly refillAfterMs?: number | undefined;
  readonly resetAfterMs?: number;
}

export interface Case {
  readonly name: string;
  readonly policy: PolicyOptions;
  readonly steps: readonly Step[];
}

export const HOUR = 3_600_000;
export const DAY: number = 24 * HOUR;

import type { PolicyOptions } from '@rl/core';
import { overshootOf } from '../chaos/overshoot.js';
import { quantile } from '../statistics.js';
import type { SetUp } from './set-ups.js';
import { offer, type Told, World } from './world.js';

/** What all regions together may admit: permits a second, and as many at once. */
export const QUOTA = 1000;

/** Of a quota that does not come back in time: all of it is used up, exactly once. */
export const TOTAL = 4000;

const POLICIES: Readonly<Record<string, PolicyOptions>> = {
  rate: { limit: QUOTA, window: '1s' },
  total: { limit: TOTAL, window: '1d', algorithm: 'fixed-window' },
};

/** One phase of one set-up. */
export interface PhaseFigures {
  readonly phase: string;
  readonly decisions: number;
  readonly admitted: number;
  readonly fallback: number;
  /** The share of decisions for which nobody asked the home store. */
  readonly withoutCrossing: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface SetUpFigures {
  readonly setUp: string;
  readonly phases: readonly PhaseFigures[];
  /** Permits above burst + rate × T over any interval while the regions were connected. */
  readonly overshoot: number;
  /** Admitted of `TOTAL` permits, by all regions. */
  readonly total: number;
}

/** Lives through calm, overload, a cut cable and its end; then uses up a quota that does not come back. */
export async function runSetUp(
  setUp: SetUp,
  seconds: number,
  roundTripMs: number,
  signal: AbortSignal,
  onPhase: (phase: string) => void,
): Promise<SetUpFigures> {
  const world = await World.start(setUp, POLICIES, roundTripMs);
  const forMs = seconds * 1000;
  const phases: PhaseFigures[] = [];
  const run = async (phase: string, policy: string, perSecond: number): Promise<Told[]> => {
    onPhase(phase);
    const before = crossed(world);
    const told = await offer(world, policy, perSecond, forMs, signal);
    phases.push(figuresOf(phase, told, crossed(world) - before));
    return told;
  };
  try {
    await offer(world, 'rate', 0.8 * QUOTA, 2000, signal);
    const connected = [
      ...(await run('0.8 x the quota', 'rate', 0.8 * QUOTA)),
      ...(await run('2 x the quota', 'rate', 2 * QUOTA)),
    ];
    await world.cut();
    await run('cable cut', 'rate', 0.8 * QUOTA);
    await world.mend();
    await run('cable mended', 'rate', 0.8 * QUOTA);
    const used = await run('a total, used up', 'total', (2 * TOTAL) / seconds);
    const admitted = connected
      .filter(({ decision }) => decision.allowed)
      .map(({ atMs, tookMs }) => ({ atMs, tookMs }));
    return {
      setUp: setUp.name,
      phases,
      overshoot: Math.max(0, overshootOf(admitted, { burst: QUOTA, perMs: QUOTA / 1000 })),
      total: used.filter(({ decision }) => decision.allowed).length,
    };
  } finally {
    await world.close();
  }
}

function crossed({ replicas }: World): number {
  return replicas.reduce((sum, { far }) => sum + (far?.decisions ?? 0), 0);
}

function figuresOf(phase: string, told: readonly Told[], crossings: number): PhaseFigures {
  const took = told.map(({ tookMs }) => tookMs);
  return {
    phase,
    decisions: told.length,
    admitted: told.filter(({ decision }) => decision.allowed).length,
    fallback: told.filter(({ decision }) => decision.origin === 'fallback').length,
    withoutCrossing: Math.max(0, 1 - crossings / told.length),
    p50Ms: quantile(took, 0.5),
    p99Ms: quantile(took, 0.99),
    maxMs: Math.max(...took),
  };
}

import type { Random } from './random.js';
import type { FleetScenario, Stretch } from './scenarios.js';

/** Requests in order of time; made once, so that every fleet is asked the same. */
export interface Arrivals {
  readonly count: number;
  readonly atMs: Float64Array;
  /** The replica each is sent to. */
  readonly replica: Uint16Array;
}

export function makeArrivals(scenario: FleetScenario, random: Random): Arrivals {
  const { demand, limitPerSecond, durationMs, swing, replicas, replicasLater } = scenario;
  const most = Math.max(...swing.map(({ factor }) => factor));
  const perMs = (demand * most * limitPerSecond) / 1000;
  const early = pick(replicas, scenario.skew);
  const late = pick(replicasLater, scenario.skew);
  const atMs: number[] = [];
  const replica: number[] = [];
  for (let now = random.gapMs(perMs); now < durationMs; now += random.gapMs(perMs)) {
    // Drawn for the highest demand, and left out where it is lower.
    if (random.next() * most >= factorAt(swing, now)) continue;
    atMs.push(now);
    replica.push((now < durationMs / 2 ? early : late)(random.next()));
  }
  return { count: atMs.length, atMs: Float64Array.from(atMs), replica: Uint16Array.from(replica) };
}

function factorAt(swing: readonly Stretch[], nowMs: number): number {
  const roundMs = swing.reduce((sum, { forMs }) => sum + forMs, 0);
  let left = nowMs % roundMs;
  for (const { forMs, factor } of swing) {
    if (left < forMs) return factor;
    left -= forMs;
  }
  return swing[0]?.factor ?? 1;
}

/** Which of `count` replicas a number from 0 to 1 stands for. */
function pick(count: number, skew: number): (at: number) => number {
  const weights = Array.from({ length: count }, (_, i) => (i + 1) ** -skew);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let below = 0;
  const upTo = weights.map((weight) => {
    below += weight / total;
    return below;
  });
  return (at) => {
    const found = upTo.findIndex((limit) => at < limit);
    return found === -1 ? count - 1 : found;
  };
}

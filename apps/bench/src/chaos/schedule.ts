import { Random } from '../fleet-simulation/random.js';
import type { Fault } from './fault.js';

/** A fault that is to come. */
export interface Planned {
  readonly fault: Fault;
  readonly durationMs: number;
}

/** Before the first fault. */
export const LEAD_MS = 1500;

/** Behind each fault, for the recovery to be seen and something more. */
export const CALM_MS = 2500;

const SHORTEST_MS = 1000;
const LONGEST_MS = 3000;

/** What a fault and the calm behind it take where there is time enough. */
const USUAL_MS = 4500;

/** What is needed for one fault at least, in seconds. */
export const LEAST_SECONDS: number = (LEAD_MS + SHORTEST_MS + CALM_MS) / 1000;

/**
 * Which faults happen, in which order and for how long: all of them once before one happens again,
 * as far as the time goes, and the same for the same seed.
 * @param seconds at least `LEAST_SECONDS`
 */
export function planFaults(
  faults: readonly Fault[],
  seconds: number,
  seed: number,
): readonly Planned[] {
  const random = new Random(seed, 'schedule');
  const timeMs = seconds * 1000 - LEAD_MS;
  const most = Math.floor(timeMs / (SHORTEST_MS + CALM_MS));
  const count = Math.max(Math.min(most, faults.length), Math.floor(timeMs / USUAL_MS));
  const order: Fault[] = [];
  while (order.length < count) order.push(...shuffled(faults, random));
  const weights = Array.from({ length: count }, () => random.next());
  const sum = weights.reduce((all, weight) => all + weight, 0);
  const spareMs = timeMs - count * (SHORTEST_MS + CALM_MS);
  return weights.map((weight, i) => ({
    fault: order[i] as Fault,
    durationMs: Math.min(LONGEST_MS, SHORTEST_MS + (spareMs * weight) / sum),
  }));
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

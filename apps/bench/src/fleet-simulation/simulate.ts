import { type Arrivals, makeArrivals } from './arrivals.js';
import { ExactBucket, overshootOf } from './exact-bucket.js';
import type { MakeFleet } from './fleet.js';
import { Network } from './network.js';
import { Random } from './random.js';
import type { FleetScenario } from './scenarios.js';
import { Tally } from './tally.js';
import { Timeline } from './timeline.js';

/** What one fleet did, as shares and not in percent. */
export interface FleetFigures {
  /** Overshoot ÷ burst, where admissions count when they are decided. */
  readonly overshootAtStore: number;
  /** The same, where they count when the replica learns of them. */
  readonly overshootAtReplicas: number;
  /** Admitted ÷ what one exact bucket asked by the same requests admits. */
  readonly use: number;
  /** Calls of the store ÷ requests. */
  readonly callsPerRequest: number;
  /** Requests that were answered at once ÷ requests. */
  readonly local: number;
}

/**
 * Lets a fleet go through a scenario. The same seed gives the same figures, to the digit, and asks
 * every fleet the same.
 */
export async function simulate(
  scenario: FleetScenario,
  makeFleet: MakeFleet,
  seed: number,
): Promise<FleetFigures> {
  const timeline = new Timeline();
  const network = new Network(timeline, new Random(seed, 'network'), scenario.roundTripMs);
  const tally = new Tally();
  const arrivals = makeArrivals(scenario, new Random(seed, 'arrivals'));
  const fleet = makeFleet({ scenario, seed, network, tally });
  scheduleCrashes(scenario, timeline, new Random(seed, 'crashes'), (index) => fleet.crash(index));
  try {
    for (let i = 0; i < arrivals.count; i++) {
      const atMs = arrivals.atMs[i] as number;
      while (timeline.nextAtMs <= atMs) await timeline.runNext();
      timeline.nowMs = atMs;
      const pending = fleet.request(arrivals.replica[i] as number);
      if (pending !== undefined) await pending;
    }
    while (timeline.nextAtMs < Number.POSITIVE_INFINITY) await timeline.runNext();
  } finally {
    await fleet.close();
  }
  return {
    overshootAtStore: overshootOf(scenario, tally.atStore),
    overshootAtReplicas: overshootOf(scenario, tally.atReplicas),
    use: tally.admitted / exactlyAdmitted(scenario, arrivals),
    callsPerRequest: network.calls / arrivals.count,
    local: tally.local / arrivals.count,
  };
}

function scheduleCrashes(
  { crashesPerSecond, durationMs, replicas }: FleetScenario,
  timeline: Timeline,
  random: Random,
  crash: (replica: number) => void,
): void {
  if (crashesPerSecond === 0) return;
  const perMs = crashesPerSecond / 1000;
  for (let atMs = random.gapMs(perMs); atMs < durationMs; atMs += random.gapMs(perMs)) {
    const replica = Math.floor(random.next() * replicas);
    timeline.schedule(atMs, () => {
      crash(replica);
      return undefined;
    });
  }
}

/** How many of these requests one bucket admits that is asked without delay. */
export function exactlyAdmitted(scenario: FleetScenario, { count, atMs }: Arrivals): number {
  const bucket = new ExactBucket(scenario);
  let admitted = 0;
  for (let i = 0; i < count; i++) admitted += bucket.take(1, Math.floor(atMs[i] as number));
  return admitted;
}

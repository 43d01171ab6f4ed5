import { leasingFleet } from './leasing-fleet.js';
import type { FleetScenario } from './scenarios.js';
import { type FleetFigures, simulate } from './simulate.js';
import { usualFleet } from './usual-fleet.js';

/** What became of the same requests with our leases, and with leases as they usually are. */
export interface Comparison {
  readonly scenario: FleetScenario;
  readonly ours: FleetFigures;
  readonly usual: FleetFigures;
}

export async function compare(scenario: FleetScenario, seed: number): Promise<Comparison> {
  const ours = await simulate(scenario, leasingFleet, seed);
  const usual = await simulate(scenario, usualFleet, seed);
  return { scenario, ours, usual };
}

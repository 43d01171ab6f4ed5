import type { Network } from './network.js';
import type { FleetScenario } from './scenarios.js';
import type { Tally } from './tally.js';

/** How long a replica may spend what it was granted at once, whatever the fleet. */
export const LEASE_MS = 1000;

/** Where a fleet lives. */
export interface World {
  readonly scenario: FleetScenario;
  readonly seed: number;
  readonly network: Network;
  readonly tally: Tally;
}

/** Replicas that enforce one quota together, each in its way. */
export interface Fleet {
  /** A request reaches a replica, which may be a new one. What is returned is awaited. */
  request(replica: number): Promise<void> | undefined;
  /** A replica loses all it knows and starts anew; its requests that wait are never answered. */
  crash(replica: number): void;
  close(): Promise<void>;
}

export type MakeFleet = (world: World) => Fleet;

import type { Clock } from '../../time/clock.js';
import type { Scripts } from './script.js';
import { checks, heartbeat, plainChecks, region } from './scripts.generated.js';

/** What tests put in place of the server's clock. */
export interface ScriptSource {
  readonly scripts: Scripts;
  /** Appended to the arguments of every call. */
  extraArgs(): number[];
  readonly clock?: Clock;
}

/** The server's own clock. */
export const SERVER_CLOCK: ScriptSource = {
  scripts: { plainChecks, checks, heartbeat, region },
  extraArgs: () => [],
};

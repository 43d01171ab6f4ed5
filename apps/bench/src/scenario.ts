import type { RedisUnderTest } from './redis-under-test.js';

/** Names and numbers, nested as the JSON shows them. */
export interface Figures {
  readonly [name: string]: number | string | Figures;
}

/** A part of the report for readers. */
export interface Table {
  readonly title: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** What follows from the table, a sentence each. */
  readonly notes: readonly string[];
}

/** Plain data: it crosses a process boundary. */
export interface ScenarioResult {
  readonly figures: Figures;
  readonly tables: readonly Table[];
}

/** How much is measured. */
export interface Effort {
  /** Measured rounds of each game. */
  readonly rounds: number;
  /** Warm-up of each contender of each game. */
  readonly warmUpMs: number;
  /** Length of one measurement under load. */
  readonly runMs: number;
  /** Decisions of one measurement that makes them one by one. */
  readonly decisions: number;
  /** How long a fleet of replicas is offered requests. */
  readonly fleetMs: number;
}

export interface Stage {
  readonly redis: RedisUnderTest;
  readonly effort: Effort;
  /** Aborted when the user interrupts: stop soon, remove what was stored, fail with its reason. */
  readonly signal: AbortSignal;
}

/** One comparison, or several that need the same. */
export interface Scenario {
  /** As the command line names it. */
  readonly name: string;
  /** Its place in the JSON, which scenarios may share. Default: its name. */
  readonly place?: string;
  /** True where it runs only when it is named: it starts servers of its own, which takes long. */
  readonly onRequest?: boolean;
  run(stage: Stage): Promise<ScenarioResult>;
}

/** Ours in every scenario. */
export const OURS = 'rl';

/**
 * What every contender enforces. The limit is never reached: to admit is the dearer answer for us,
 * who write only then. Refill stays below one permit a second and key, so that counts add up.
 */
export const LIMIT = 1_000_000;
export const WINDOW_MS: number = 20 * 86_400_000;

/** The clients whose calls are checked. */
export const KEYS: readonly string[] = Array.from({ length: 1000 }, (_, i) => `client-${i}`);

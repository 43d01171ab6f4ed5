/**
 * The program of the process a scenario runs in. Each has its own, so that none finds a heap that
 * another has filled or code that was optimised for another. It does as its parent says.
 */
import { openRedis } from './redis-under-test.js';
import type { Effort, ScenarioResult } from './scenario.js';
import { SCENARIOS } from './scenarios/index.js';

/** The first message to it. Any later one means: stop, remove what was stored, and end. */
export interface Order {
  readonly scenario: string;
  readonly effort: Effort;
  readonly redisUrl: string;
}

/** The one message from it. */
export type Outcome =
  | { readonly result: ScenarioResult }
  /** The stack of an error. */
  | { readonly failure: string };

/** How long the removal of keys may take when the parent is gone, and perhaps its server too. */
const ORPHAN_TIMEOUT_MS = 10_000;

const abort = new AbortController();

async function run({ scenario: name, effort, redisUrl }: Order): Promise<ScenarioResult> {
  const scenario = SCENARIOS.find((candidate) => candidate.name === name);
  if (scenario === undefined) throw new RangeError(`there is no scenario ${JSON.stringify(name)}`);
  const redis = await openRedis(redisUrl);
  try {
    return await scenario.run({ redis, effort, signal: abort.signal });
  } finally {
    await redis.close();
  }
}

/** With its causes, which a stack leaves out. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const stack = error.stack ?? error.message;
  return error.cause === undefined ? stack : `${stack}\ncaused by ${describe(error.cause)}`;
}

// Ctrl-C reaches the whole process group, but only the parent decides what it means.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});

process.once('message', async (order) => {
  process.once('message', () => abort.abort(new Error('interrupted')));
  process.once('disconnect', () => {
    abort.abort(new Error('the bench has ended'));
    setTimeout(() => process.exit(1), ORPHAN_TIMEOUT_MS).unref();
  });
  const outcome: Outcome = await run(order as Order).then(
    (result) => ({ result }),
    (error: unknown) => ({ failure: describe(error) }),
  );
  if (process.connected) process.send?.(outcome, () => process.disconnect());
});

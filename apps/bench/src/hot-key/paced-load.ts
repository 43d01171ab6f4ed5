import type { HotKey } from './replica-set.js';

/** What became of the calls of one run. */
export interface PacedRun {
  readonly made: number;
  readonly denied: number;
  /** Of each call, from when it was made to when it was decided. */
  readonly latenciesMs: readonly number[];
}

/**
 * Makes calls at an even rate whatever the answers take, and waits for the last answer. Each is made in a
 * turn of the event loop of its own, so that every contender has as many calls in a script, one; what is
 * late is made as soon as can be. Fails where the store did not decide.
 */
export async function runPaced(
  hotKey: HotKey,
  replicas: number,
  perSecond: number,
  runMs: number,
): Promise<PacedRun> {
  const total = Math.max(1, Math.round((perSecond * runMs) / 1000));
  const latenciesMs: number[] = [];
  let denied = 0;
  const call = async (replica: number): Promise<void> => {
    const startMs = performance.now();
    const { allowed, fallback } = await hotKey.consume(replica);
    latenciesMs.push(performance.now() - startMs);
    if (fallback !== undefined) throw new Error(`${hotKey.name}: the store did not decide`);
    if (!allowed) denied++;
  };
  const calls: Promise<void>[] = [];
  const startMs = performance.now();
  for (let turn = 0; calls.length < total; ) {
    const due = Math.min(total, 1 + ((performance.now() - startMs) * perSecond) / 1000);
    if (calls.length + 1 <= due) calls.push(call(turn++ % replicas));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(calls);
  return { made: total, denied, latenciesMs };
}

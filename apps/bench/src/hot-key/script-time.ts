import type { Redis } from 'ioredis';

/** What a server has spent in scripts since its counts were at 0. */
export interface ScriptTime {
  readonly us: number;
  readonly calls: number;
}

export async function resetScriptTime(primaries: readonly Redis[]): Promise<void> {
  await Promise.all(primaries.map((primary) => primary.config('RESETSTAT')));
}

/** By `INFO commandstats`: EVALSHA and EVAL, with the commands that scripts call. */
export async function scriptTimeOf(primary: Redis): Promise<ScriptTime> {
  const stats = await primary.info('commandstats');
  const lines = [...stats.matchAll(/^cmdstat_(?:evalsha|eval):calls=(\d+),usec=(\d+)/gm)];
  return {
    calls: lines.reduce((sum, [, calls]) => sum + Number(calls), 0),
    us: lines.reduce((sum, [, , us]) => sum + Number(us), 0),
  };
}

import { collectGarbage } from './collect-garbage.js';

/**
 * How many bytes of this process's heap are in use behind `work` that were not before.
 * @param work what it makes and nobody holds is collected
 */
export async function keptBy(work: () => void): Promise<number> {
  await collectGarbage();
  const before = process.memoryUsage().heapUsed;
  work();
  await collectGarbage();
  return process.memoryUsage().heapUsed - before;
}

/** Keys that were each cut out of a header of 15 kB: 30 MB of headers in all. */
export function* keysCutFromHeaders(): Iterable<string> {
  for (let i = 0; i < 2000; i++) {
    const header = `${'x'.repeat(15_000)}${i}, 2001:db8:0:0:0:0:0:${i.toString(16)}`;
    yield header.split(', ')[1] as string;
  }
}

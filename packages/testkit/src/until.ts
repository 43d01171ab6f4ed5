import { setTimeout as delay } from 'node:timers/promises';

const PAUSE_MS = 20;

/**
 * Resolves with what `look` gives once that is not undefined; a `look` that rejects counts as not
 * yet. Rejects after `timeoutMs`, naming `what` was waited for and how the last look failed.
 */
export async function until<T>(
  what: string,
  timeoutMs: number,
  look: () => Promise<T | undefined>,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    let failure = '';
    try {
      const found = await look();
      if (found !== undefined) return found;
    } catch (error) {
      failure = `: ${error instanceof Error ? error.message : String(error)}`;
    }
    if (performance.now() >= deadline) {
      throw new Error(`${what}: not within ${timeoutMs} ms${failure}`);
    }
    await delay(PAUSE_MS);
  }
}

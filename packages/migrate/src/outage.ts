import { isRateLimitError } from '@rl/core';

/** Stores whose resets have failed, so that each is warned of once. */
const WARNED = new WeakSet<object>();

/**
 * A reset that does not reject for the sake of a store that is away: middlewares do not wait for it,
 * and a rejection nobody handles ends the process. It becomes a process warning, once for each `owner`.
 */
export async function resetOrWarn(owner: object, reset: () => Promise<void>): Promise<void> {
  try {
    await reset();
  } catch (error) {
    if (!isRateLimitError(error) || error.code !== 'RL_STORE_FAILED') throw error;
    if (WARNED.has(owner)) return;
    WARNED.add(owner);
    process.emitWarning(
      `@rl/migrate: a key was not reset, and may be what it was: ${error.message}`,
      { code: 'RL_STORE_FAILED' },
    );
  }
}

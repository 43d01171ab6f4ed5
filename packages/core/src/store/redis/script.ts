import type { RedisClient } from './client.js';

/** A Lua script and the digest by which the server knows it. */
export interface Script {
  readonly sha1: string;
  readonly text: string;
}

/**
 * Runs a script by its digest. A server that does not know it (restarted, flushed, new) says
 * NOSCRIPT and has run nothing, so the whole text is sent then, once, and is known from there on.
 */
export async function runScript(
  client: RedisClient,
  script: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await client.evalsha(script.sha1, keys.length, ...keys, ...args);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return client.eval(script.text, keys.length, ...keys, ...args);
  }
}

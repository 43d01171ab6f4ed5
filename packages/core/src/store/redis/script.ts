import type { RedisClient } from './client.js';

/** A Lua script and the digest by which the server knows it. */
export interface Script {
  readonly sha1: string;
  readonly text: string;
}

/** The scripts, by name. */
export type ScriptName = 'plainChecks' | 'checks';
export type Scripts = Readonly<Record<ScriptName, Script>>;

/**
 * Runs scripts by their digest, so that a call does not carry the text. The first call of each
 * carries it all the same: a server that does not know a script would have it sent again, behind
 * calls that were made later. A server that has lost its scripts (restarted, flushed) says NOSCRIPT
 * and has run nothing; then the text is sent once more.
 */
export class ScriptRunner {
  readonly #client: RedisClient;
  readonly #sent = new Set<Script>();

  constructor(client: RedisClient) {
    this.#client = client;
  }

  async run(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    if (!this.#sent.has(script)) {
      this.#sent.add(script);
      return this.#client.eval(script.text, keys.length, ...keys, ...args);
    }
    try {
      return await this.#client.evalsha(script.sha1, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return this.#client.eval(script.text, keys.length, ...keys, ...args);
    }
  }
}

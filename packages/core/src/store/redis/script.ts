import type { ClientGate } from './client-gate.js';

/** A Lua script and the digest by which the server knows it. */
export interface Script {
  readonly sha1: string;
  readonly text: string;
}

/** The scripts, by name. */
export type ScriptName = 'plainChecks' | 'checks' | 'heartbeat';
export type Scripts = Readonly<Record<ScriptName, Script>>;

/** `NOPERM this user has no permissions to run the 'evalsha' command`, `ERR unknown command 'evalsha'`. */
const EVALSHA_REFUSED = /^(NOPERM|ERR) .*\bevalsha\b/i;

/**
 * Runs scripts by their digest, so that a call does not carry the text. The first call of each
 * carries it all the same: a server that does not know a script would have it sent again, behind
 * calls that were made later. A server that has lost its scripts (restarted, flushed) says NOSCRIPT
 * and has run nothing; then the text is sent once more. One that refuses EVALSHA as such, to this user
 * or to all, has run nothing either, and is sent the text from then on.
 */
export class ScriptRunner {
  readonly #gate: ClientGate;
  readonly #sent = new Set<Script>();
  #evalOnly = false;

  constructor(gate: ClientGate) {
    this.#gate = gate;
  }

  async run(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    if (this.#evalOnly || !this.#sent.has(script)) return this.#sendText(script, keys, args);
    try {
      return await this.#gate.send((client) =>
        client.evalsha(script.sha1, keys.length, ...keys, ...args),
      );
    } catch (error) {
      const says = error instanceof Error ? error.message : '';
      if (EVALSHA_REFUSED.test(says)) this.#evalOnly = true;
      else if (!says.startsWith('NOSCRIPT')) throw error;
      return this.#sendText(script, keys, args);
    }
  }

  #sendText(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    const answer = this.#gate.send((client) =>
      client.eval(script.text, keys.length, ...keys, ...args),
    );
    this.#sent.add(script);
    return answer;
  }
}

import type { ClientGate } from './client-gate.js';

/** A Lua script and the digest by which the server knows it. */
export interface Script {
  readonly sha1: string;
  readonly text: string;
}

/** The scripts, by name. */
export type ScriptName = 'plainChecks' | 'checks' | 'heartbeat' | 'region';
export type Scripts = Readonly<Record<ScriptName, Script>>;

/** `NOPERM this user has no permissions to run the 'evalsha' command`, `ERR unknown command 'evalsha'`. */
const EVALSHA_REFUSED = /^(NOPERM|ERR) .*\bevalsha\b/i;

/** Most nodes remembered; with more all are forgotten, and sent the text once more. */
const MAX_NODES = 1000;

/**
 * Runs scripts by their digest, so that a call does not carry the text. The first call of each
 * carries it all the same: a server that does not know a script would have it sent again, behind
 * calls that were made later. A server that has lost its scripts (restarted, flushed) says NOSCRIPT
 * and has run nothing; then the text is sent once more. One that refuses EVALSHA as such, to this user
 * or to all, has run nothing either, and is sent the text from then on.
 */
export class ScriptRunner {
  readonly #gate: ClientGate;
  readonly #onResend: () => void;
  readonly #nodeOf: (key: string) => string;
  /** By node: each knows its own. */
  readonly #sent = new Map<string, Set<Script>>();
  #evalOnly = false;

  /**
   * @param onResend called where a call goes out once more, behind what was sent after it
   * @param nodeOf the node of a Cluster that a key is sent to
   */
  constructor(
    gate: ClientGate,
    onResend: () => void = () => {},
    nodeOf: (key: string) => string = () => '',
  ) {
    this.#gate = gate;
    this.#onResend = onResend;
    this.#nodeOf = nodeOf;
  }

  async run(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    if (this.#evalOnly || this.#isFirst(script, keys)) return this.#sendText(script, keys, args);
    try {
      return await this.#gate.send((client) =>
        client.evalsha(script.sha1, keys.length, ...keys, ...args),
      );
    } catch (error) {
      const says = error instanceof Error ? error.message : '';
      if (EVALSHA_REFUSED.test(says)) this.#evalOnly = true;
      else if (!says.startsWith('NOSCRIPT')) throw error;
      this.#onResend();
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
    this.#sentTo(keys).add(script);
    return answer;
  }

  #isFirst(script: Script, keys: readonly string[]): boolean {
    return !this.#sentTo(keys).has(script);
  }

  /** What the node of these keys was sent. */
  #sentTo([key = '']: readonly string[]): Set<Script> {
    const node = this.#nodeOf(key);
    const found = this.#sent.get(node);
    if (found !== undefined) return found;
    if (this.#sent.size >= MAX_NODES) this.#sent.clear();
    const sent = new Set<Script>();
    this.#sent.set(node, sent);
    return sent;
  }
}

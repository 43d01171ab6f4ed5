import { type RateLimitError, storeFailed } from '../../errors.js';
import { type Clock, monotonicClock } from '../../time/clock.js';
import type { RedisClient } from './client.js';
import { permissionHint } from './permissions.js';
import { faultOf, isReplica, NotConnected } from './store-fault.js';

/** Most calls that may wait in a client that is not connected yet. */
const MAX_WAITING = 100;

/** The client is made to connect anew at most once in this time. */
const RECONNECT_EVERY_MS = 2000;

/** By status: why it is handed nothing. It would run it much later, for calls long decided. */
const AWAY: ReadonlyMap<string, string> = new Map([
  ['reconnecting', 'has no connection and is reconnecting'],
  ['close', 'has just lost its connection'],
  ['disconnecting', 'is disconnecting'],
  ['end', 'has ended and will not come back: it was closed, or its retryStrategy gave up'],
]);

/**
 * The way to the client: what it cannot do now is refused at once, and little waits in it. A client
 * that does not tell its status is handed everything.
 */
export class ClientGate {
  readonly #client: RedisClient;
  readonly #clock: Clock;
  /** Calls it was handed and has not answered. */
  #waiting = 0;
  #reconnectedAtMs = Number.NEGATIVE_INFINITY;

  constructor(client: RedisClient, clock: Clock = monotonicClock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** @throws NotConnected where the client was handed nothing */
  send(call: (client: RedisClient) => Promise<unknown>): Promise<unknown> {
    const { status } = this.#client;
    if (status !== undefined && status !== 'ready') this.#checkAway(status);
    const answer = call(this.#client);
    this.#waiting++;
    const done = () => {
      this.#waiting--;
    };
    answer.then(done, done);
    return answer;
  }

  /** Notes an error of the client, and makes of it what callers get: `what` is what was to be done. */
  failure(what: string, error: unknown, prefix: string): RateLimitError {
    this.failed(error);
    return storeFailed(what, error, faultOf(error), permissionHint(error, prefix));
  }

  /**
   * Told of every error. Where the server is a primary no more, its connection stays up though its
   * name may lead to another server by now: the client, unless it is a Cluster's, which finds out
   * by itself, is made to connect anew.
   */
  failed(error: unknown): void {
    const client = this.#client;
    if (client.isCluster || client.status !== 'ready' || !isReplica(error)) return;
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#reconnectedAtMs < RECONNECT_EVERY_MS) return;
    this.#reconnectedAtMs = nowMs;
    client.disconnect?.(true);
  }

  #checkAway(status: string): void {
    const why = AWAY.get(status);
    if (why !== undefined) throw new NotConnected(`the client ${why} (status "${status}")`);
    if (this.#waiting < MAX_WAITING) return;
    throw new NotConnected(
      `the client is not connected yet (status "${status}") and ${MAX_WAITING} calls wait in it`,
    );
  }
}

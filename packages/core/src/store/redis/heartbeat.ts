import { monotonicClock } from '../../time/clock.js';
import { ReplyReader } from './reply-reader.js';

/**
 * For how long a heartbeat counts. Heartbeats come every 2 s: four may be lost or late, and a replica
 * that ended without a word makes the shares of the others smaller than need be for 10 s.
 */
const LIFE_MS = 10_000;

/** For how long one is waited for. */
const BEAT_ANYWAY_MS = 60_000;

/**
 * Runs `lua/heartbeat.lua`.
 * @param lifeMs for how long it counts; 0: it leaves
 */
type Run = (replicaId: string, lifeMs: number) => Promise<unknown>;

/** The sorted set of a prefix: a key that no bucket has, for want of braces. */
export function replicasKey(prefix: string): string {
  return `${prefix}:replicas`;
}

/** Says that a replica is there, and counts those that do. */
export class Heartbeat {
  readonly #run: Run;
  readonly #id: string;
  readonly #lifeMs: number;
  /** The latest, and whether an answer came. */
  #last: Promise<boolean> | undefined;
  #leaving: Promise<void> | undefined;
  /** The one whose answer is awaited, and since when. */
  #beating: Promise<number> | undefined;
  #beatAtMs = 0;

  /** @param lifeMs at least 1 */
  constructor(run: Run, id: string, lifeMs: number = LIFE_MS) {
    this.#run = run;
    this.#id = id;
    this.#lifeMs = lifeMs;
  }

  /**
   * One that is not answered yet is not followed by another, or a server that is silent would have
   * them wait in the client by the thousand; but a client may lose an answer for good, hence there is
   * one more after so long.
   * @returns how many replicas there are: at least 1
   */
  beat(): Promise<number> {
    const nowMs = monotonicClock.nowMs();
    if (this.#beating !== undefined && nowMs - this.#beatAtMs < BEAT_ANYWAY_MS)
      return this.#beating;
    const count = this.#beat();
    this.#beating = count;
    this.#beatAtMs = nowMs;
    const end = (isAnswered: boolean) => {
      if (this.#beating === count) this.#beating = undefined;
      return isAnswered;
    };
    this.#last = count.then(
      () => end(true),
      () => end(false),
    );
    return count;
  }

  /**
   * Takes this replica off the count, once, where its last heartbeat was answered; else it is
   * forgotten later. Another store that goes by the same id adds it again with its next heartbeat.
   * Never rejects; waits for the server as long as the client does.
   */
  leave(): Promise<void> {
    this.#leaving ??= this.#leave();
    return this.#leaving;
  }

  async #beat(): Promise<number> {
    const reader = new ReplyReader(await this.#run(this.#id, this.#lifeMs));
    const count = reader.next();
    reader.end();
    return count;
  }

  async #leave(): Promise<void> {
    if (await this.#last) await this.#run(this.#id, 0).catch(() => {});
  }
}

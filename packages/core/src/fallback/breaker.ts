import type { Clock } from '../time/clock.js';

/**
 * Whether the store is asked. `up`: it is. `lost`: it is not, but for one probe at a time.
 * `returning`: it has answered a probe, and other replicas are given the time to notice it too and
 * to charge what they admitted meanwhile; until then it is not asked to decide.
 */
export type StoreState = 'up' | 'lost' | 'returning';

/** So many failures in a row, each of a question asked after the one before, lose the store. */
const FAILURES = 5;

/**
 * Silence alone loses the store no sooner: a server, or a machine, may pause for some tens of
 * milliseconds. No call waits for longer than its deadline meanwhile.
 */
const SILENCE_MS = 100;

/** How long after that it is tried. Each try that fails doubles it, up to the most. */
const FIRST_PROBE_MS = 100;
const LAST_PROBE_MS = 250;

/** By how much a try is earlier or later than that, so that replicas do not all try at once. */
const JITTER = 0.25;

/**
 * When one replica has found a store, all have found it by then: a client may take half a second to
 * connect again, and its replica as long as it waits between two probes.
 */
export const RETURN_MS: number = 500 + Math.ceil(LAST_PROBE_MS * (1 + JITTER)) + 87;

/**
 * Keeps a limiter from waiting for a store that does not answer. It starts no timer: what calls it
 * says when it is to be called next.
 */
export class Breaker {
  readonly #clock: Clock;
  readonly #returnMs: number;
  readonly #random: () => number;
  #state: StoreState = 'up';
  #failures = 0;
  /** When the first of them was noticed. */
  #failingSinceMs = 0;
  /** Rises with each failure that counts. */
  #round = 0;
  #probeAfterMs = FIRST_PROBE_MS;
  #isProbing = false;
  /** When the state is looked at next, while it is not up. */
  #nextAtMs = 0;

  /**
   * @param returnMs how long a store that was found is returning
   * @param random from 0 up to 1
   */
  constructor(clock: Clock, returnMs: number, random: () => number) {
    this.#clock = clock;
    this.#returnMs = returnMs;
    this.#random = random;
  }

  get state(): StoreState {
    return this.#state;
  }

  /** True from `startProbe` until its end is told. */
  get isProbing(): boolean {
    return this.#isProbing;
  }

  /** True where the last question that counted was not answered in time. */
  get isFailing(): boolean {
    return this.#failures > 0;
  }

  /** To be kept with each question, for `failed`. */
  get round(): number {
    return this.#round;
  }

  /** How long until it may change without an answer: a probe is due then, or it is up again. */
  get dueAfterMs(): number {
    return Math.max(0, this.#nextAtMs - this.#clock.nowMs());
  }

  /** A question was answered in time. */
  succeeded(): void {
    this.#failures = 0;
  }

  /**
   * A question was not.
   * @param round as it was when it was asked: of all that were asked before a failure was noticed,
   * one counts, or a moment's pause would look like an outage to a busy replica
   * @param isSilence whether there was just no answer in time
   * @returns true where that loses the store
   */
  failed(round: number, isSilence: boolean): boolean {
    if (round !== this.#round || this.#state === 'lost') return false;
    const nowMs = this.#clock.nowMs();
    this.#round++;
    if (++this.#failures === 1) this.#failingSinceMs = nowMs;
    if (this.#failures < FAILURES) return false;
    if (isSilence && nowMs - this.#failingSinceMs < SILENCE_MS) return false;
    return this.lose();
  }

  /** Loses the store, whatever was answered. @returns false where it was lost already */
  lose(): boolean {
    if (this.#state === 'lost') return false;
    this.#round++;
    this.#state = 'lost';
    this.#schedule();
    return true;
  }

  /** True where the store is lost and it is time for a probe, which is up to the caller then. */
  startProbe(): boolean {
    if (this.#state !== 'lost' || this.#isProbing || this.dueAfterMs > 0) return false;
    this.#isProbing = true;
    return true;
  }

  /** The probe was answered in time: the store is returning. */
  found(): void {
    this.#isProbing = false;
    this.#state = 'returning';
    this.#failures = 0;
    this.#round++;
    this.#nextAtMs = this.#clock.nowMs() + this.#returnMs;
  }

  /** The probe was not. */
  probeFailed(): void {
    this.#isProbing = false;
    this.#probeAfterMs = Math.min(LAST_PROBE_MS, this.#probeAfterMs * 2);
    this.#schedule();
  }

  /** A sign of life, which is no proof: the next probe need not wait. */
  hurry(): void {
    if (this.#state === 'lost') this.#nextAtMs = Math.min(this.#nextAtMs, this.#clock.nowMs());
  }

  /** @returns true where the store has been returning for long enough, and is up from now on */
  tryReturn(): boolean {
    if (this.#state !== 'returning' || this.dueAfterMs > 0) return false;
    this.#state = 'up';
    this.#probeAfterMs = FIRST_PROBE_MS;
    return true;
  }

  #schedule(): void {
    const jitter = 1 + JITTER * (2 * this.#random() - 1);
    this.#nextAtMs = this.#clock.nowMs() + Math.ceil(this.#probeAfterMs * jitter);
  }
}

import { checkInteger } from '../arith/integers.js';
import { messageOf } from '../errors.js';
import { outsideRequests, repeat } from '../time/background.js';
import type { Replicas } from './options.js';

/** How often a function is asked. */
export const ASK_EVERY_MS = 2000;

/** A function that has let so many turns pass without an answer, 10 s, has failed. */
const PATIENCE = 5;

/**
 * Of heartbeats the highest of so many answers in a row counts: a rise is believed at once, a fall
 * 8 s late. A store that was restarted empty hears of one replica after the other again, and a beat
 * may be late; a replica that is not counted makes the shares of all others too large.
 */
const BEATS = 4;

export interface WatchOptions {
  /** The option `replicas`, or what sends a store a heartbeat. A number is told at once, for good. */
  readonly source: Replicas;
  /** True where the answers are a store's to heartbeats: then a fall is believed late. */
  readonly isHeartbeat: boolean;
  /**
   * Told the first good value, each that differs from the one before, and the first one behind a
   * failure. Must not throw.
   */
  onCount(count: number): void;
  /**
   * Told why there was none: once, until there is one again or the error says something else. Must
   * not throw.
   * @param count the last good one, which stays; undefined where there has been none
   */
  onFailure(error: Error, count: number | undefined): void;
}

/** What `watchReplicas` is doing. It goes on as long as somebody holds this. */
export class ReplicaWatch {
  readonly #options: WatchOptions;
  readonly #endTurns: () => void = () => {};
  /** The latest good answers, the oldest first. */
  #answers: number[] = [];
  #count: number | undefined;
  /** What the last failure said, where no good answer has come since. */
  #failure: string | undefined;
  /** How many questions there were; they are numbered from 1. */
  #asked = 0;
  /** The question under way. */
  #asking: number | undefined;
  #turnsPassed = 0;

  constructor(options: WatchOptions) {
    this.#options = options;
    if (typeof options.source === 'number') {
      this.#heard(options.source);
    } else {
      // No function made in here: it would keep hold of this, and so would the timer.
      this.#endTurns = repeat(this, ASK_EVERY_MS, ReplicaWatch.#turn);
      outsideRequests(() => ReplicaWatch.#turn(this));
    }
  }

  /** Asks no more, and tells nothing more. */
  stop(): void {
    this.#endTurns();
    this.#asking = undefined;
  }

  static #turn(watch: ReplicaWatch): void {
    if (watch.#asking !== undefined) {
      watch.#turnsPassed++;
      if (watch.#turnsPassed < PATIENCE) return;
      const seconds = (PATIENCE * ASK_EVERY_MS) / 1000;
      watch.#failed(new Error(`${watch.#name} gave no answer within ${seconds} s`));
    }
    watch.#ask();
  }

  #ask(): void {
    const { source } = this.#options;
    if (typeof source === 'number') return;
    const question = ++this.#asked;
    this.#asking = question;
    this.#turnsPassed = 0;
    try {
      const answer = source();
      if (typeof answer === 'number') this.#answered(question, answer);
      else this.#await(question, answer);
    } catch (error) {
      this.#threw(question, error);
    }
  }

  /** Holds this weakly: whoever keeps a promise that is never settled would keep it, too. */
  #await(question: number, answer: Promise<number>): void {
    const held = new WeakRef(this);
    const tell = (what: (watch: ReplicaWatch) => void) => {
      const watch = held.deref();
      if (watch !== undefined) what(watch);
    };
    Promise.resolve(answer).then(
      (value) => tell((watch) => watch.#answered(question, value)),
      (error) => tell((watch) => watch.#threw(question, error)),
    );
  }

  #answered(question: number, value: number): void {
    if (this.#isDue(question)) this.#heard(value);
  }

  #threw(question: number, error: unknown): void {
    if (!this.#isDue(question)) return;
    const why = messageOf(error);
    this.#failed(new Error(`${this.#name} failed: ${why}`, { cause: error }));
  }

  /** True once for a question, unless it was given up. */
  #isDue(question: number): boolean {
    if (this.#asking !== question) return false;
    this.#asking = undefined;
    return true;
  }

  #heard(value: number): void {
    try {
      checkInteger(this.#name, value, 1);
    } catch (error) {
      this.#failed(error as Error);
      return;
    }
    const isKnownAgain = this.#failure !== undefined;
    this.#failure = undefined;
    const kept = this.#options.isHeartbeat ? this.#answers.slice(1 - BEATS) : [];
    this.#answers = [...kept, value];
    const count = Math.max(...this.#answers);
    if (count === this.#count && !isKnownAgain) return;
    this.#count = count;
    this.#options.onCount(count);
  }

  #failed(error: Error): void {
    if (error.message === this.#failure) return;
    this.#failure = error.message;
    this.#options.onFailure(error, this.#count);
  }

  get #name(): string {
    const { isHeartbeat, source } = this.#options;
    if (isHeartbeat) return 'store.heartbeat()';
    return typeof source === 'function' ? 'fallback.replicas()' : 'fallback.replicas';
  }
}

/**
 * Keeps the number of replicas up to date: asks at once, then every 2 s in the background, one
 * question at a time. What is not answered within 10 s has failed; its answer is ignored then.
 *
 * A number, and what a function answers without a promise, is told before this returns. What it
 * returns is to be held: neither the timer nor a question under way keeps it, or the process, alive.
 */
export function watchReplicas(options: WatchOptions): ReplicaWatch {
  return new ReplicaWatch(options);
}

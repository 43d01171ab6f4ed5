import { type RateLimitError, type StoreFault, storeFailed } from '../errors.js';
import type { StoreWatcher } from '../metrics/store-watcher.js';
import type { Store } from '../store/store.js';
import { later, outsideRequests } from '../time/background.js';
import type { Clock } from '../time/clock.js';
import { Asked, type AskedBy, attempt, type Question, timedOut } from './asked.js';
import { Breaker, type StoreState } from './breaker.js';
import type { Deadlines } from './deadlines.js';
import type { StoreEvent } from './events.js';
import { PROBE } from './probe.js';

export interface StoreLinkOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  /** For how long a store that was found is not asked yet, so that others find it, too. */
  readonly returnMs: number;
  /** Is told how long questions take. */
  readonly watcher?: Pick<StoreWatcher, 'took'> | undefined;
  tell(event: StoreEvent): void;
  /**
   * Asked before a probe about this key, and when it was answered.
   * @returns false where what it was sent for is another link's by now, and this one is closed
   */
  isThere(key: string): boolean;
  /** The store answers: it can be charged. */
  onFound(): void;
  /** False while a store that was found is not ready to be asked, as it is being charged. */
  mayReturn(): boolean;
  /** The store is asked again. */
  onBack(): void;
}

/**
 * Most probes whose answers have not come: more would only fill the client's queue. A client may lose
 * answers for good, hence there is one more after so long.
 */
const MAX_PROBES = 16;
const PROBE_ANYWAY_MS = 60_000;

/** Most questions that were given up and are not answered yet: with so many the store is lost. */
export const MAX_UNANSWERED = 10_000;

/** The longest that a store is returning for want of `mayReturn`, and how often that is asked. */
const LONGEST_RETURN_MS = 10_000;
const RETURN_CHECK_MS = 20;

/**
 * The way to a store that is elsewhere, or to a part of it that can fail by itself: it sees to it that
 * every question ends by its deadline, and that a store which does not answer is not asked, but for
 * probes, until it does.
 *
 * A question costs an entry in a line while the store is up. There is a timer while a question waits
 * and while the store is not up; neither keeps the process alive.
 */
export class StoreLink implements AskedBy {
  readonly #options: StoreLinkOptions;
  readonly #breaker: Breaker;
  #timer: NodeJS.Timeout | undefined;
  #lostAtMs = 0;
  #lastFault: StoreFault = 'other';
  #isDoubted = false;
  #probeKey: string = PROBE.name;
  #unanswered = 0;
  #foundAtMs = 0;
  #probes = 0;
  #probedAtMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  /** Where it fails, this part is asked a question of its own. */
  readonly #shared: AskedBy = {
    heard: () => {},
    heardLate: () => this.heardLate(),
    notHeard: (error, _, key) => this.#sharedNotHeard(error, key),
    timeout: () => this.timeout(),
    took: (durationMs, fault) => this.took(durationMs, fault),
  };

  constructor(options: StoreLinkOptions) {
    this.#options = options;
    this.#breaker = new Breaker(options.clock, options.returnMs, Math.random);
  }

  get state(): StoreState {
    return this.#breaker.state;
  }

  /** What was the matter when a question failed last. */
  get lastFault(): StoreFault {
    return this.#lastFault;
  }

  /** What a question that is not asked fails with. */
  get refusal(): RateLimitError {
    const why = 'it has not answered lately, and is tried in the background';
    return storeFailed('be asked', new Error(why), this.#lastFault);
  }

  /** Of the breaker: to be kept with each question that is asked elsewhere, for `notHeard`. */
  get round(): number {
    return this.#breaker.round;
  }

  /** Where the next probe goes: the bucket whose question failed last, hence its slot of a Cluster. */
  get probeKey(): string {
    return this.#probeKey;
  }

  /** As of `Breaker`. */
  get isFailing(): boolean {
    return this.#breaker.isFailing;
  }

  /** @param isShared where other parts of the store answer it, too: it says nothing of this one by itself */
  ask<Answer>(question: Question<Answer>, isShared = false): void {
    const asked = new Asked(isShared ? this.#shared : this, this.#breaker.round, question);
    this.#options.deadlines.add(asked);
    asked.ask();
  }

  /** A question failed that was not asked here. @param isShared as of `ask` */
  failed(error: RateLimitError, key: string, isShared = false): void {
    (isShared ? this.#shared : this).notHeard(error, this.#breaker.round, key);
  }

  /**
   * A call failed that this part of the store had a part in, and nobody can tell whether it is to
   * blame: it is asked a question of its own, one at a time, whose failure counts.
   */
  doubt(key: string): void {
    if (this.#isDoubted || this.#isClosed || this.#breaker.state !== 'up') return;
    this.#isDoubted = true;
    const answered = () => {
      this.#isDoubted = false;
      return true;
    };
    const ask = () => this.#options.store.consume(PROBE, key, 1);
    outsideRequests(() => this.ask({ key, ask, answered, failed: answered }));
  }

  /** Loses the store over what no one of its answers tells. */
  lose(error: RateLimitError): void {
    const wasUp = this.#breaker.state === 'up';
    if (this.#breaker.lose()) this.#lost(error, wasUp);
  }

  /** Does what is due while the store is not up. Called by whoever comes by, and by a timer. */
  look(): void {
    if (this.#breaker.startProbe()) outsideRequests(() => this.#probe());
    if (!this.#mayReturn() || !this.#breaker.tryReturn()) return;
    this.#options.tell({ type: 'store-back', outageMs: this.outageMs });
    this.#options.onBack();
  }

  /** It leads elsewhere: what was asked where it led before is nothing to go by. */
  moved(): void {
    this.#probes = 0;
    this.#unanswered = 0;
    this.#breaker.hurry();
    this.#arm();
  }

  /** For how long it has not decided, while it is not up. */
  get outageMs(): number {
    return this.#options.clock.nowMs() - this.#lostAtMs;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  heard(): void {
    this.#breaker.succeeded();
  }

  notHeard(error: RateLimitError, round: number, key: string): void {
    const { fault = 'other' } = error;
    const wasUp = this.#breaker.state === 'up';
    this.#lastFault = fault;
    this.#probeKey = key;
    this.#options.tell({ type: 'store-failed', fault, error });
    const isFull = this.#unanswered >= MAX_UNANSWERED && this.#breaker.lose();
    if (isFull || this.#breaker.failed(round, fault === 'timeout')) this.#lost(error, wasUp);
  }

  #sharedNotHeard(error: RateLimitError, key: string): void {
    const { fault = 'other' } = error;
    this.#options.tell({ type: 'store-failed', fault, error });
    if (this.#unanswered >= MAX_UNANSWERED) this.lose(error);
    this.doubt(key);
  }

  timeout(): RateLimitError {
    this.#unanswered++;
    return timedOut(this.#options.deadlines.ms);
  }

  took(durationMs: number, fault?: StoreFault): void {
    this.#options.watcher?.took(durationMs, fault);
  }

  /** A sign of life. After a long silence it is worth a probe; else the next one is near. */
  heardLate(): void {
    if (this.#unanswered > 0) this.#unanswered--;
    if (this.#probes < MAX_PROBES) return;
    this.#breaker.hurry();
    this.#arm();
  }

  #lost(error: RateLimitError, wasUp: boolean): void {
    const { tell, clock } = this.#options;
    const { fault = 'other' } = error;
    this.#lastFault = fault;
    if (wasUp) this.#lostAtMs = clock.nowMs();
    tell({ type: 'store-lost', fault, error });
    this.#arm();
  }

  /** What the timer does. Made of nothing here, so that it keeps hold of nothing. */
  static #lookAgain(link: StoreLink): void {
    link.look();
    link.#arm();
  }

  #mayReturn(): boolean {
    if (this.#breaker.state !== 'returning') return true;
    const { clock, mayReturn } = this.#options;
    return mayReturn() || clock.nowMs() - this.#foundAtMs >= LONGEST_RETURN_MS;
  }

  #arm(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed || this.#breaker.state === 'up' || this.#breaker.isProbing) return;
    const afterMs = Math.max(this.#mayReturn() ? 1 : RETURN_CHECK_MS, this.#breaker.dueAfterMs);
    this.#timer = later(this, afterMs, StoreLink.#lookAgain);
  }

  #probe(): void {
    const { store, clock } = this.#options;
    const key = this.#probeKey;
    if (!this.#options.isThere(key)) return;
    const nowMs = clock.nowMs();
    if (this.#probes >= MAX_PROBES && nowMs - this.#probedAtMs < PROBE_ANYWAY_MS) {
      this.#breaker.probeFailed();
      return;
    }
    this.#probedAtMs = nowMs;
    this.#probes++;
    const asked = attempt({ ask: () => store.consume(PROBE, key, 1) });
    this.ask({
      key,
      ask: () => asked,
      answered: () => {
        if (this.#options.isThere(key)) this.#found();
        return true;
      },
      failed: () => {
        this.#breaker.probeFailed();
        this.#arm();
      },
    });
    // Behind what it is heard as: that one of so many was answered late is worth the next one.
    const settled = () => {
      if (this.#probes > 0) this.#probes--;
    };
    asked.then(settled, settled);
  }

  #found(): void {
    const { tell, onFound } = this.#options;
    this.#breaker.found();
    this.#foundAtMs = this.#options.clock.nowMs();
    tell({ type: 'store-found' });
    onFound();
    this.look();
    this.#arm();
  }
}

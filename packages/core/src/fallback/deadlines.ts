import { outsideRequests } from '../time/background.js';
import type { Clock } from '../time/clock.js';

/** Something that is given up where it is not settled in time. */
export abstract class Pending {
  /** Set by whoever settles it: then it is not given up. */
  isSettled = false;
  /** For `Deadlines` alone. */
  dueAtMs = 0;
  wasPostponed = false;

  /** Called once, where it was not settled in time; `isSettled` is set by then. */
  abstract giveUp(): void;
}

/** A timer that fires later than this shows that the event loop was stalled. */
const STALL_MS = 2;

/** As many settled ones are kept in line, at most; where more wait in it, as many as wait. */
const ROOM = 256;

/**
 * Gives up what takes longer than a fixed time. All may take as long, so they are due in the order
 * in which they were added: one timer serves any number of them, and nothing is done for one that
 * is settled in time but to pass it by. Time counts from the end of the turn of the event loop, when
 * what was asked in it goes out: a long turn takes nothing off.
 *
 * A stall of the event loop is not held against others. When the timer fires, what has arrived
 * meanwhile is read before anything is given up; where it fires late, what is due gets as much time
 * again as it was late, once, and at most its whole time: it may not even have been sent before.
 *
 * The timer does not keep the process alive.
 */
export class Deadlines {
  readonly ms: number;
  readonly #clock: Clock;
  /** Those of this turn. */
  #fresh: Pending[] = [];
  /** In the order in which they are due, from `#head` on. */
  #line: Pending[] = [];
  #head = 0;
  /** When it is as long as this, what is settled is taken out of it. */
  #tidyAt = ROOM;
  #isArmed = false;

  /** @param ms how long each may take, at least 1 */
  constructor(ms: number, clock: Clock) {
    this.ms = ms;
    this.#clock = clock;
  }

  add(pending: Pending): void {
    if (this.#fresh.push(pending) === 1) outsideRequests(() => setImmediate(() => this.#sent()));
  }

  /** The turn is over. */
  #sent(): void {
    const dueAtMs = this.#clock.nowMs() + this.ms;
    for (const pending of this.#fresh) {
      if (pending.isSettled) continue;
      pending.dueAtMs = dueAtMs;
      this.#line.push(pending);
    }
    this.#fresh = [];
    if (this.#line.length >= this.#tidyAt) this.#tidy();
    if (!this.#isArmed && this.#line.length > 0) this.#arm(this.ms);
  }

  #arm(ms: number): void {
    this.#isArmed = true;
    // Immediates run behind the reading of sockets.
    const fire = () => setImmediate(() => this.#look());
    outsideRequests(() => setTimeout(fire, Math.max(1, ms)).unref());
  }

  #look(): void {
    const nowMs = this.#clock.nowMs();
    const over: Pending[] = [];
    const postponed: Pending[] = [];
    for (let first = this.#first(); first !== undefined; first = this.#first()) {
      const lateMs = nowMs - first.dueAtMs;
      if (lateMs < 0) break;
      this.#head++;
      if (lateMs > STALL_MS && !first.wasPostponed) {
        first.wasPostponed = true;
        first.dueAtMs = nowMs + Math.min(lateMs, this.ms);
        postponed.push(first);
      } else {
        first.isSettled = true;
        over.push(first);
      }
    }
    if (postponed.length > 0) {
      this.#line = [...postponed, ...this.#line.slice(this.#head)];
      this.#line.sort((a, b) => a.dueAtMs - b.dueAtMs);
      this.#head = 0;
    }
    if (this.#head >= ROOM || this.#head === this.#line.length) this.#tidy();
    const next = this.#first();
    this.#isArmed = false;
    if (next !== undefined) this.#arm(next.dueAtMs - nowMs);
    for (const pending of over) pending.giveUp();
  }

  /** The first in line that is not settled. */
  #first(): Pending | undefined {
    while (this.#line[this.#head]?.isSettled) this.#head++;
    return this.#line[this.#head];
  }

  #tidy(): void {
    this.#line = this.#line.slice(this.#head).filter((pending) => !pending.isSettled);
    this.#head = 0;
    this.#tidyAt = 2 * Math.max(ROOM, this.#line.length);
  }
}

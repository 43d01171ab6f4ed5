import { vi } from 'vitest';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { everyTurn } from './virtual-time.js';

/** One time for a clock and for `setTimeout`, which passes as a test has it. Immediates are real. */
export class SteppedTime {
  readonly clock: ManualClock = new ManualClock();

  /** `end` is to be called behind the test. */
  constructor() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  }

  /** Timers that are set. */
  get timers(): number {
    return vi.getTimerCount();
  }

  /** A millisecond after the other passes, each with all its turns of the event loop. */
  async pass(ms: number): Promise<void> {
    await everyTurn();
    for (let i = 0; i < ms; i++) {
      this.clock.advance(1);
      vi.advanceTimersByTime(1);
      await everyTurn();
    }
  }

  /** The event loop stalls for so long: what is due meanwhile comes late. */
  async stall(ms: number): Promise<void> {
    this.clock.advance(ms);
    vi.advanceTimersByTime(ms);
    await everyTurn();
  }

  end(): void {
    vi.useRealTimers();
  }
}

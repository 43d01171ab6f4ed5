import { setTimeout as pause } from 'node:timers/promises';
import type { Limiter } from '@rl/core';
import type { Random } from '../fleet-simulation/random.js';
import { Pacer } from '../http-load/pacer.js';
import { Recorder } from './account.js';
import { nowMs } from './clock.js';
import { nextCall, type PolicyName } from './traffic.js';

/** Between two looks at how many calls are due. */
const TICK_MS = 2;

/** How long answers are waited for when no more calls are made. */
const PATIENCE_MS = 2000;

/** Calls at a steady rate, whatever becomes of them: an open loop. It begins at once. */
export class Load {
  readonly recorder: Recorder = new Recorder();
  readonly #limiter: Limiter<PolicyName>;
  readonly #random: Random;
  readonly #pacer: Pacer;
  readonly #startMs: number = nowMs();
  #timer: NodeJS.Timeout | undefined;
  #mostLateMs = 0;

  constructor(limiter: Limiter<PolicyName>, perSecond: number, random: Random) {
    this.#limiter = limiter;
    this.#random = random;
    this.#pacer = new Pacer({ perSecond, total: Number.MAX_SAFE_INTEGER, lanes: 1 });
    this.#tick();
  }

  /** The longest that a call was due and not made. */
  get mostLateMs(): number {
    return this.#mostLateMs;
  }

  /** Makes no more calls, and resolves when all are answered, or after a while without. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    const untilMs = nowMs() + PATIENCE_MS;
    while (this.recorder.open > 0 && nowMs() < untilMs) await pause(TICK_MS);
  }

  #tick(): void {
    const elapsedMs = nowMs() - this.#startMs;
    this.#mostLateMs = Math.max(this.#mostLateMs, this.#pacer.lateMs(elapsedMs));
    const [due = 0] = this.#pacer.take(elapsedMs);
    for (let i = 0; i < due; i++) this.#call();
    this.#timer = setTimeout(() => this.#tick(), TICK_MS);
  }

  #call(): void {
    const { kind, keys } = nextCall(this.#random);
    const { recorder } = this;
    recorder.calls++;
    const atMs = nowMs();
    try {
      const decision = this.#limiter.tryConsume(keys);
      if (decision !== undefined) {
        recorder.decided(kind, atMs, nowMs() - atMs, decision);
        return;
      }
      this.#limiter.consume(keys).then(
        (answer) => recorder.decided(kind, atMs, nowMs() - atMs, answer),
        (error: unknown) => recorder.failed(error),
      );
    } catch (error) {
      recorder.failed(error);
    }
  }
}

import type { Stall } from './account.js';
import { nowMs } from './clock.js';

/** How often it looks. */
const EVERY_MS = 2;

/** Timers of Node are up to so much late without any stall. */
export const TIMER_MS = 1;

/** Notes when this process's event loop does not turn, be it busy itself or not given a CPU. */
export class StallProbe {
  readonly stalls: Stall[] = [];
  #timer: NodeJS.Timeout | undefined;
  #lookedAtMs = 0;
  #cpuMs = 0;

  constructor() {
    this.#look();
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #look(): void {
    const atMs = nowMs();
    const { user, system } = process.cpuUsage();
    const cpuMs = (user + system) / 1000;
    const fromMs = this.#lookedAtMs + EVERY_MS;
    if (this.#lookedAtMs > 0 && atMs - fromMs > TIMER_MS) {
      this.stalls.push({ fromMs, toMs: atMs, cpuMs: cpuMs - this.#cpuMs });
    }
    this.#cpuMs = cpuMs;
    this.#lookedAtMs = atMs;
    this.#timer = setTimeout(() => this.#look(), EVERY_MS);
  }
}

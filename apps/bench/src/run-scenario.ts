import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ScenarioResult } from './scenario.js';
import type { Order, Outcome } from './scenario-process.js';

const PROGRAM: string = fileURLToPath(new URL('./scenario-process.mjs', import.meta.url));

/**
 * Runs one scenario in a process of its own, started with the options of this one (--expose-gc),
 * and resolves when that has ended. It fails where the scenario does, and with the signal's reason
 * where that is aborted; what the scenario stored in Redis is removed in every case.
 */
export function runScenario(order: Order, signal: AbortSignal): Promise<ScenarioResult> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const child = fork(PROGRAM);
    let outcome: Outcome | undefined;
    const stop = (): void => void (child.connected && child.send('stop'));
    signal.addEventListener('abort', stop, { once: true });
    child.on('message', (message) => {
      outcome = message as Outcome;
    });
    child.once('error', reject);
    child.once('close', (code, killedBy) => {
      signal.removeEventListener('abort', stop);
      if (outcome !== undefined && 'result' in outcome) resolve(outcome.result);
      else if (signal.aborted) reject(signal.reason);
      else
        reject(
          new Error(`${order.scenario}: ${outcome?.failure ?? `ended by ${killedBy ?? code}`}`),
        );
    });
    child.send(order);
  });
}

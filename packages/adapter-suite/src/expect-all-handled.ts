import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect } from 'vitest';

/** Call it in a `describe`: a rejection that nobody handles fails the test it happens in. */
export function expectAllHandled(): void {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  beforeEach(() => void process.on('unhandledRejection', note));
  afterEach(async () => {
    // Node tells of them at the end of a turn.
    await turn();
    process.off('unhandledRejection', note);
    expect(unhandled.splice(0)).toEqual([]);
  });
}

import { setImmediate as aTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Collects all that nobody holds. */
export async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  // What a weak reference was asked for stays until the turn is over.
  for (let i = 0; i < 3; i++) {
    await aTurn();
    gc();
  }
}

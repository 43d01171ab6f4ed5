import { createHook } from 'node:async_hooks';

/** The kinds of async resource that come into being while `run` runs. */
export function asyncResourcesOf(run: () => void): string[] {
  const kinds: string[] = [];
  const hook = createHook({ init: (_id, kind) => kinds.push(kind) }).enable();
  run();
  hook.disable();
  return kinds;
}

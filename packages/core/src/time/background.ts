import { AsyncResource } from 'node:async_hooks';

/**
 * A timer and a promise keep the async context they were made in reachable. Made in here, that is
 * the context in which this module was loaded, never the one of the request that is being served.
 */
const outside = new AsyncResource('RL_BACKGROUND');

/** Runs `work` at once, outside the async context of the request that is being served, if any. */
export function outsideRequests<T>(work: () => T): T {
  return outside.runInAsyncScope(work);
}

/**
 * Runs `work` on `target` again and again, the first time after `everyMs`. It keeps neither the
 * process nor the target alive: when the target is collected it ends by itself. What `work` itself
 * refers to does stay reachable: that must not lead to the target.
 *
 * @param work must not throw
 * @returns ends it; may be called more than once
 */
export function repeat<T extends object>(
  target: T,
  everyMs: number,
  work: (target: T) => void,
): () => void {
  const held = new WeakRef(target);
  const tick = (): void => {
    const found = held.deref();
    if (found === undefined) clearInterval(timer);
    else work(found);
  };
  const timer = outsideRequests(() => setInterval(tick, everyMs).unref());
  return () => clearInterval(timer);
}

/**
 * Runs `work` on `target` once, `afterMs` from now, if there still is a target: as `repeat`, it keeps
 * neither the process nor the target alive.
 *
 * @returns the timer, to be cleared
 */
export function later<T extends object>(
  target: T,
  afterMs: number,
  work: (target: T) => void,
): NodeJS.Timeout {
  const held = new WeakRef(target);
  const run = (): void => {
    const found = held.deref();
    if (found !== undefined) work(found);
  };
  return outsideRequests(() => setTimeout(run, afterMs).unref());
}

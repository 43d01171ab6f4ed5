import type { Field } from './field.js';

/** Something that happens to a Redis or to the ways to it. */
export interface Fault {
  readonly name: string;
  /** True where the server comes back empty: it has forgotten what was spent. */
  readonly losesBuckets?: boolean;
  /** Makes it happen. What that resolves to puts an end to it. */
  begin(field: Field): Promise<() => Promise<unknown>>;
}

/**
 * A fault of an instant, made to last: `act` happens at once and then again and again. What goes
 * wrong with it is what the end of the fault rejects with.
 */
export function again(everyMs: number, act: () => unknown): () => Promise<unknown> {
  const acts: Promise<unknown>[] = [];
  const once = (): void => {
    const done = (async () => act())();
    done.catch(() => {}); // that is told at the end
    acts.push(done);
  };
  once();
  const timer = setInterval(once, everyMs);
  return () => {
    clearInterval(timer);
    return Promise.all(acts);
  };
}

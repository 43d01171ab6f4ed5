import { ownText } from '../key/own-text.js';
import { boundPartitionKey } from '../key/partition-key.js';

/** A key that is kept. */
export interface HeavyHitter<Note> {
  key: string;
  /** At least what it was counted, at most `error` more. */
  count: number;
  /** The count it took over from the one that gave way to it. */
  error: number;
  /** Of this key, the latest first. */
  notes: Note[];
}

/**
 * The keys that are counted most, of however many, in bounded memory: Space-Saving (Metwally, Agrawal
 * and El Abbadi, 2005). With room for k keys, one that makes up more than 1/k of all is kept, and no
 * count is short. A key for which there is no room takes the place, and the count, of the least.
 */
export class HeavyHitters<Note = never> {
  readonly #room: number;
  readonly #byKey = new Map<string, HeavyHitter<Note>>();
  readonly #kept: HeavyHitter<Note>[] = [];

  /** @param room how many keys are kept: at least 1 */
  constructor(room: number) {
    this.#room = room;
  }

  /** Counts a key, and gives where it is kept. @param times at least 1 */
  add(key: string, times: number): HeavyHitter<Note> {
    const bound = boundPartitionKey(key);
    const kept = this.#byKey.get(bound) ?? this.#take(ownText(bound));
    kept.count += times;
    return kept;
  }

  find(key: string): HeavyHitter<Note> | undefined {
    return this.#byKey.get(boundPartitionKey(key));
  }

  /** In no order. */
  all(): readonly HeavyHitter<Note>[] {
    return this.#kept;
  }

  #take(key: string): HeavyHitter<Note> {
    if (this.#kept.length < this.#room) {
      const added = { key, count: 0, error: 0, notes: [] };
      this.#kept.push(added);
      this.#byKey.set(key, added);
      return added;
    }
    let least = this.#kept[0] as HeavyHitter<Note>;
    for (const one of this.#kept) if (one.count < least.count) least = one;
    this.#byKey.delete(least.key);
    least.key = key;
    least.error = least.count;
    least.notes = [];
    this.#byKey.set(key, least);
    return least;
  }
}

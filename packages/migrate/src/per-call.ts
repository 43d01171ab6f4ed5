import type { PolicyChange } from '@rl/core';
import { checkInteger, invalidType, invalidValue } from '@rl/core/http';
import { type Count, countOf, spentOf } from './count.js';
import type { PolicyInPlace, Source } from './options.js';

/** Most pairs of limit and window that are kept; apps have some for each route and tier. */
const MAX_KEPT = 1000;

/** One policy whose limit and window come with each call. */
export class PerCallPolicy {
  readonly #source: Source;
  readonly #restated: Pick<PolicyInPlace, 'burst' | 'shards'>;
  readonly #changes = new Map<string, PolicyChange>();

  /** Burst and shards do not go with every limit, and so are said with each call. */
  constructor(source: Source, { burst, shards }: Pick<PolicyInPlace, 'burst' | 'shards'> = {}) {
    this.#source = source;
    this.#restated = { burst, shards };
  }

  /**
   * Decides and charges a call, at once where that can be.
   *
   * @param limit an integer of at least 1
   * @param windowMs an integer of at least 1
   */
  consume(key: string, limit: number, windowMs: number): Count | Promise<Count> {
    const { limiter, policy } = this.#source;
    const options = { policies: { [policy]: this.changeOf(limit, windowMs) } };
    const decision = limiter.tryConsume({ [policy]: key }, options);
    if (decision !== undefined) return countOf(decision, limiter);
    return limiter.consume({ [policy]: key }, options).then((made) => countOf(made, limiter));
  }

  /** What is spent, charging nothing, and when all of it is back. */
  async peek(
    key: string,
    limit: number,
    windowMs: number,
  ): Promise<{ spent: number; waitMs: number }> {
    const { limiter, policy } = this.#source;
    const decision = await limiter.peek(
      { [policy]: key },
      { policies: { [policy]: this.changeOf(limit, windowMs) } },
    );
    return { spent: spentOf(decision, limiter), waitMs: decision.resetAfterMs };
  }

  /** Equal values give the same object, which the limiter then knows at once. */
  changeOf(limit: number, windowMs: number): PolicyChange {
    const values = `${limit} ${windowMs}`;
    const known = this.#changes.get(values);
    if (known !== undefined) return known;
    if (this.#changes.size >= MAX_KEPT) this.#changes.clear();
    const change = Object.freeze({ ...this.#restated, limit, window: windowMs });
    this.#changes.set(values, change);
    return change;
  }
}

/** What a middleware gives as a limit: an integer of at least 0, or Infinity for none. */
export function checkLimit(field: string, limit: number): number {
  return limit === Number.POSITIVE_INFINITY ? limit : checkInteger(field, limit, 0);
}

/** A key as text. Some middlewares take numbers, too. */
export function checkKey(key: unknown): string {
  if (typeof key === 'string' && key !== '') return key;
  if (typeof key === 'number' && Number.isFinite(key)) return String(key);
  const refuse = typeof key === 'string' ? invalidValue : invalidType;
  throw refuse('key', 'a text that is not empty', key);
}

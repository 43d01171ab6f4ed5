import type { Decision } from '../../decision/decision.js';

/** A response header, by its usual spelling. */
export type Header = readonly [name: string, value: string];

/** What a client is told of one policy. */
export interface Told {
  readonly decision: Decision;
  /** The partition key under that policy. */
  readonly key: string;
}

/** How one family of headers is written. Wire names are known here and nowhere else. */
export interface HeaderFormat {
  /** Those it writes, each time or at times. */
  readonly names: readonly string[];
  /**
   * True where each field is a list with a member for each policy, so that one limiter appends to
   * what another has written. False where a field is about one policy, the strictest: then it is
   * written anew from all that limiters of this request have told so far.
   */
  readonly isList: boolean;
  /** @param told at least one; the strictest is first where the format is no list */
  write(told: readonly Told[]): readonly Header[];
}

import { median } from './statistics.js';

/** One of those compared. All contenders of a game do the same work. */
export interface Contender<Measurement> {
  /** Its name in the JSON: `rl` for ours. */
  readonly name: string;
  /** Does the work once, for as long as every other contender's is done. */
  measure(): Promise<Measurement>;
}

/** What each contender did in one round, by name. */
export type Round<Measurement> = ReadonlyMap<string, Measurement>;

export interface Game {
  /** Measured rounds. */
  readonly rounds: number;
  /** Before them, each contender is measured again and again for this long, for nothing. */
  readonly warmUpMs: number;
  /** Ends the game between two measurements, with its reason as the error. */
  readonly signal: AbortSignal;
}

/**
 * Measures every contender once in each round, one at a time. They change places from round to
 * round, so that none always runs after the same one: three contenders take all six orders in six
 * rounds.
 *
 * Many short rounds rather than a few long ones: what else the machine does then falls on all
 * contenders of a round alike, or on few rounds, which the median leaves out. The heap is collected
 * once at the beginning (under --expose-gc) and then left alone: collecting before each measurement
 * would make it free for those who leave more behind, and discards optimised code.
 */
export async function playRounds<Measurement>(
  contenders: readonly Contender<Measurement>[],
  { rounds, warmUpMs, signal }: Game,
): Promise<Round<Measurement>[]> {
  for (const { measure } of contenders) {
    const startMs = performance.now();
    do {
      signal.throwIfAborted();
      await measure();
    } while (performance.now() - startMs < warmUpMs);
  }
  globalThis.gc?.();
  const played: Round<Measurement>[] = [];
  for (let i = 0; i < rounds; i++) {
    const round = new Map<string, Measurement>();
    for (const { name, measure } of orderOfRound(contenders, i)) {
      signal.throwIfAborted();
      round.set(name, await measure());
    }
    played.push(round);
  }
  return played;
}

/** Every second round is reversed, and every second one begins one place further on. */
export function orderOfRound<T>(contenders: readonly T[], round: number): T[] {
  const first = (round >> 1) % contenders.length;
  const order = [...contenders.slice(first), ...contenders.slice(0, first)];
  return round % 2 === 0 ? order : order.reverse();
}

/** One number of every round for one contender. */
export function figuresOf<Measurement>(
  rounds: readonly Round<Measurement>[],
  name: string,
  figure: (measurement: Measurement) => number,
): number[] {
  return rounds.map((round) => {
    const measurement = round.get(name);
    if (measurement === undefined) throw new RangeError(`${name} took no part in the round`);
    return figure(measurement);
  });
}

/**
 * How `name` compares with the best of its peers: in every round its figure divided by the best
 * figure any peer had in that same round. Taking the ratio within a round cancels what slows the
 * whole machine down for a while, and a peer that is lucky once counts in that round.
 */
export function ratiosToBestPeer<Measurement>(
  rounds: readonly Round<Measurement>[],
  name: string,
  peers: readonly string[],
  figure: (measurement: Measurement) => number,
  best: 'highest' | 'lowest',
): number[] {
  const ours = figuresOf(rounds, name, figure);
  const theirs = peers.map((peer) => figuresOf(rounds, peer, figure));
  const pick = best === 'highest' ? Math.max : Math.min;
  return ours.map((own, i) => own / pick(...theirs.map((figures) => figures[i] as number)));
}

/** The median over the rounds of `ratiosToBestPeer`. */
export function ratioToBestPeer<Measurement>(
  ...compared: Parameters<typeof ratiosToBestPeer<Measurement>>
): number {
  return median(ratiosToBestPeer(...compared));
}

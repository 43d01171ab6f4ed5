import type { LeaseReport } from '../algorithms/outstanding.js';
import type { Decision } from '../decision/decision.js';
import type { StoreMetrics } from '../metrics/store-metrics.js';
import type { Policy } from '../policy/policy.js';
import type { Clock } from '../time/clock.js';

export type { LeaseReport } from '../algorithms/outstanding.js';

/** What one call is charged to one bucket. */
export interface Charge {
  readonly policy: Policy;
  /** The partition key: a text that is not empty. */
  readonly key: string;
  /** Permits: an integer, at least 0. 0 only looks. */
  readonly cost: number;
}

/** What a replica asks of a bucket to hold permits of it in advance. */
export interface Claim {
  /** One with a lease. */
  readonly policy: Policy;
  readonly key: string;
  /** Who claims: a random integer, one for each that holds leases. */
  readonly holder: number;
  /** Rises with every claim of a holder. */
  readonly turn: number;
  /** What became of the permits it holds. Told once, whether an answer came or not. */
  readonly reports: readonly LeaseReport[];
  /** The costs of calls that wait for a decision, each as of `consume`. */
  readonly costs: readonly number[];
  /** Permits it would like in advance: an integer, at least 0. */
  readonly extra: number;
}

/** The answer to a claim. */
export interface Grant {
  /** On the costs, in order. */
  readonly decisions: readonly Decision[];
  /** Permits granted in advance: from 0 to what was asked. */
  readonly permits: number;
  /** What reports call these permits; means nothing where there are none. */
  readonly epoch: number;
  /**
   * How long after the decision they may be spent. The store takes them back no earlier, by its own
   * clock; the replica counts from when it sent the claim, by its own, and stops earlier.
   */
  readonly lifeMs: number;
  /** What a cost of 0 would find then. */
  readonly left: Decision;
}

/** How it stands with a bucket. */
export interface Examination {
  /** What `consume` would answer. */
  readonly decision: Decision;
  /** Permits of it that replicas hold in advance; undefined where that is not known. */
  readonly out: number | undefined;
}

/**
 * Where buckets live. Two stores that are given the same checks at the same times give the same
 * decisions, to the digit.
 *
 * A bucket is one policy name, one algorithm and one partition key; checks of one bucket are
 * decided one after the other in the order they were made, whoever makes them. The limiter hands in
 * checked arguments.
 *
 * What cannot be answered rejects with `RL_STORE_FAILED`.
 */
export interface Store {
  /**
   * Where the store's time is not real, in tests: the clock by which limiters on it measure how long
   * things last. Left out otherwise.
   */
  readonly clock?: Clock | undefined;

  /**
   * How long a sound store may take beyond a round trip, in whole ms, as it waits for other servers: for
   * Redis replicas, for another region. A limiter's deadline is longer by as much, unless it is told.
   * Left out: 0.
   */
  readonly waitMs?: number | undefined;

  /**
   * Answers that changed a bucket and were told though fewer Redis replicas had that than were asked
   * for. It only rises. Left out where nothing of the kind is asked for.
   */
  readonly unreplicated?: number | undefined;

  /** What it counts. Left out where it counts nothing. */
  readonly metrics?: StoreMetrics | undefined;

  /**
   * Decides at once and charges, or returns undefined, having charged nothing, where only a round
   * trip can tell. Allocates no promise, starts no timer.
   */
  tryConsume(policy: Policy, key: string, cost: number): Decision | undefined;

  /**
   * Decides and charges. A denial charges nothing, nor does a shadow policy that would have denied,
   * and a cost of 0 never does.
   */
  consume(policy: Policy, key: string, cost: number): Promise<Decision>;

  /** As `tryConsume`, for several buckets as `consumeAll` has it. */
  tryConsumeAll(charges: readonly Charge[]): readonly Decision[] | undefined;

  /**
   * Decides several charges of one call, each of another bucket: all are charged, or none where one
   * is denied. Answers each charge by itself, in order: one that would have fitted is `allowed`
   * also where another was denied.
   */
  consumeAll(charges: readonly Charge[]): Promise<readonly Decision[]>;

  /**
   * Takes what a replica tells of its leases, decides what waits there, and grants permits in
   * advance, at one instant and in this order. Until it is told that they were spent or returned,
   * or their time is over, granted permits count as taken: nothing is refilled in their place.
   *
   * Undefined, with nothing done, where this claim, or a later one of its holder, has told something
   * before: so what a client sends twice is taken off once.
   */
  claim(claim: Claim): Promise<Grant | undefined>;

  /**
   * Puts permits back, never above a full bucket, and answers as a cost of 0 would then.
   * @param takenAtMs `decidedAtMs` of the decision that took them: permits of a window that is over
   * do not come back. Undefined: they were taken just now
   */
  refund(
    policy: Policy,
    key: string,
    permits: number,
    takenAtMs: number | undefined,
  ): Promise<Decision>;

  /** Takes permits, fit or not, down to the policy's overdraft; answers as a cost of 0 would then. */
  overcharge(policy: Policy, key: string, permits: number): Promise<Decision>;

  /** What a cost would meet; changes nothing. Left out: a cost of 0 has to tell. */
  examine?(policy: Policy, key: string, cost: number): Promise<Examination>;

  /** Forgets the bucket: the next check finds it full. */
  reset(policy: Policy, key: string): Promise<void>;

  /**
   * Says that this replica is there, and resolves to how many have said so lately: at least 1.
   * Where it is left out, a limiter is told the number of replicas or divides by 1.
   */
  heartbeat?(): Promise<number>;

  /**
   * Which part of the store answers for a partition key, of parts that can fail each by itself: of a
   * Redis Cluster, the node. What fails at one place is no concern of the others. The same key may
   * be at another place later. Asked with each call: fast, without a side effect, never throws; the
   * places are few. Left out where the store is up or down as a whole.
   */
  readonly placeOf?: ((key: string) => string) | undefined;

  /**
   * Lets go of timers and memory. Idempotent. Checks made before it are still answered; later ones
   * reject with `RL_CLOSED`, and those that answer at once throw it.
   */
  close(): Promise<void>;
}

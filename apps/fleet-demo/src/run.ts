import { setTimeout as delay } from 'node:timers/promises';
import type { Fleet } from './fleet.js';
import { Load, type Tally } from './load.js';

/** Replicas at first, and how many join them while the load goes on. */
export const REPLICAS = 4;
export const JOINING = 4;

/** Where a run stands; the counts are since its beginning. */
export interface Snapshot {
  readonly replicas: number;
  /** From before the first request was sent until after the last was answered. */
  readonly elapsedMs: number;
  readonly perReplica: Tally;
  readonly shared: Tally;
}

/** What a run tells while it goes on. */
export interface Observer {
  /** The run begins to do something else: `starting 4 replicas`. */
  step(what: string): void;
  /** After each beat of the load. */
  beat(now: Snapshot): void;
}

/** The figures of a run, before and after the replicas doubled. */
export interface Figures {
  readonly before: Snapshot;
  readonly after: Snapshot;
}

/** Time from one beat to the next with limits up to 100; above, beats come faster in proportion. */
const BEAT_MS = 70;

/**
 * The run: load on the first replicas until each has had a fifth more requests than its own
 * limiter would admit; then, with the load going on, more replicas; then load until each of all
 * has had as many. Takes about 9 s at a limit of 100, less with a smaller one.
 *
 * @param onBefore is given the figures before the replicas double, as soon as they are there
 * @throws Error where a replica fails; what `signal` was aborted with, where it was
 */
export async function run(
  fleet: Fleet,
  limit: number,
  observer: Observer,
  signal: AbortSignal,
  onBefore: (before: Snapshot) => void,
): Promise<Figures> {
  const beatMs = Math.min(BEAT_MS, (BEAT_MS * 100) / limit);
  const enough = Math.ceil(limit * 1.2);
  const load = new Load();
  try {
    observer.step(`starting ${REPLICAS} replicas`);
    await fleet.add(REPLICAS);
    const startedAt = performance.now();

    const snapshot = (replicas: number): Snapshot => {
      const elapsedMs = performance.now() - startedAt;
      return { replicas, elapsedMs, ...load.tallies() };
    };
    /** Beats, at their pace, until `done` says so before one. */
    const beatUntil = async (done: () => boolean): Promise<void> => {
      while (!done()) {
        const ports = fleet.ports;
        const pause = delay(beatMs, undefined, { signal });
        await Promise.all([load.beat(ports), pause]);
        fleet.check();
        observer.beat(snapshot(ports.length));
      }
    };
    /** Beats until each of the replicas has had enough, counted from now. */
    const beatFully = async (replicas: number): Promise<void> => {
      const target = load.sent + enough * replicas;
      await beatUntil(() => load.sent >= target);
    };

    observer.step(`load on ${REPLICAS} replicas`);
    await beatFully(REPLICAS);
    const before = snapshot(REPLICAS);
    onBefore(before);

    observer.step(`starting ${JOINING} more under load`);
    let joined = false;
    const joining = fleet.add(JOINING).finally(() => {
      joined = true;
    });
    await Promise.all([joining, beatUntil(() => joined)]);

    observer.step(`load on ${REPLICAS + JOINING} replicas`);
    await beatFully(REPLICAS + JOINING);
    return { before, after: snapshot(REPLICAS + JOINING) };
  } finally {
    load.close();
  }
}

import type { Policy } from '../policy/policy.js';

/*
 * Permits that replicas hold in advance, as a bucket keeps them: two counts, however many replicas
 * there are.
 *
 * Time is cut into epochs, each at least as long as a lease may be spent. A permit that was granted
 * in one epoch and of which nothing more was heard is written off at the end of the next: it then
 * counts as spent. So it is written off no earlier than its replica has stopped spending it, and a
 * replica that crashed has nothing to do.
 *
 * A replica tells with each claim what it has spent of which epoch, and what it returns. To tell the
 * same twice would make the counts too small: a claim that a client sends once more after a lost
 * connection must change nothing. Hence each holder numbers its claims, and the last that told
 * something is kept for as long as the epochs it can have told of.
 */

/** Where a bucket has permits out, or has had a moment ago. Never changed in place. */
export interface Outstanding {
  /** Permits that were granted in the present epoch and of which nothing was heard since. */
  readonly young: number;
  /** Those of the epoch before. */
  readonly old: number;
  /** The present epoch's name; the one before is one less. */
  readonly epoch: number;
  /** When it began. */
  readonly sinceMs: number;
  /** When it ends. */
  readonly endsAtMs: number;
  /** The number of the last claim that told something, by holder, in the present epoch. */
  readonly heard: Heard;
  /** In the epoch before. */
  readonly heardBefore: Heard;
}

type Heard = ReadonlyMap<number, number>;

const NOBODY: Heard = new Map();

/** What a replica tells of the permits it holds of one epoch. */
export interface LeaseReport {
  /** The epoch, as the grant named it. */
  readonly epoch: number;
  /** Permits spent since it last told. */
  readonly spent: number;
  /** Permits it will not spend any more. */
  readonly returned: number;
}

/** What was granted in advance. */
export interface Granted {
  /** 0 where there was nothing to grant. */
  readonly permits: number;
  /** For later reports; means nothing where nothing was granted. */
  readonly epoch: number;
  /** For how long from the decision on they may be spent. */
  readonly lifeMs: number;
}

/** Permits that are out. */
export function outOf(out: Outstanding | undefined): number {
  return out === undefined ? 0 : out.young + out.old;
}

/** The epoch behind the present one; undefined where then nothing is out. */
export function nextEpoch(out: Outstanding, lengthMs: number): Outstanding | undefined {
  if (out.young === 0) return undefined;
  return {
    young: 0,
    old: out.young,
    epoch: out.epoch + 1,
    sinceMs: out.endsAtMs,
    endsAtMs: out.endsAtMs + lengthMs,
    heard: NOBODY,
    heardBefore: out.heard,
  };
}

/** How long the epoch behind the present one has to be: a lease of this one may be spent in it. */
export function nextLengthMs({ lease }: Policy, { sinceMs, endsAtMs }: Outstanding): number {
  return Math.max(endsAtMs - sinceMs, lease?.ttlMs ?? 0);
}

/** False for a claim that is not above the last that was heard of its holder. */
export function isNew(out: Outstanding | undefined, holder: number, turn: number): boolean {
  if (out === undefined) return true;
  const last = out.heard.get(holder) ?? out.heardBefore.get(holder);
  return last === undefined || turn > last;
}

/**
 * Takes what a holder tells off what is out. Of an epoch that is not kept any more nothing is taken:
 * it was written off.
 * @returns also how many permits came back, of the present epoch and of the one before
 */
export function account(
  out: Outstanding,
  reports: readonly LeaseReport[],
  holder: number,
  turn: number,
): { out: Outstanding; young: number; old: number } {
  let { young, old } = out;
  const back = { young: 0, old: 0 };
  let known = false;
  for (const { epoch, spent, returned } of reports) {
    if (epoch === out.epoch) {
      back.young += Math.min(returned, Math.max(0, young - spent));
      young = Math.max(0, young - spent - returned);
      known = true;
    } else if (epoch === out.epoch - 1) {
      back.old += Math.min(returned, Math.max(0, old - spent));
      old = Math.max(0, old - spent - returned);
      known = true;
    }
  }
  if (!known) return { out, ...back };
  const heard = new Map(out.heard).set(holder, turn);
  return { out: { ...out, young, old, heard }, ...back };
}

/**
 * Adds permits to what is out. The first epoch is named by the time: epochs are longer than a
 * millisecond, so those of a bucket that begins anew later have other names.
 * @param epochMs how long the epoch is where this begins one
 */
export function grant(
  out: Outstanding | undefined,
  permits: number,
  epochMs: number,
  nowMs: number,
): Outstanding {
  if (out !== undefined) return { ...out, young: out.young + permits };
  return {
    young: permits,
    old: 0,
    epoch: nowMs,
    sinceMs: nowMs,
    endsAtMs: nowMs + epochMs,
    heard: NOBODY,
    heardBefore: NOBODY,
  };
}

import type { Decision } from '../decision/decision.js';
import { wallClock } from '../time/clock.js';
import { type HeavyHitter, HeavyHitters } from './heavy-hitters.js';
import { Sampler } from './sampler.js';
import type { DenialNote, TopKey, TopKeys } from './top-keys.js';

/** For how long keys are counted before they begin to be forgotten. */
export const GENERATION_MS = 300_000;

/** Most denials of one key that are noted, each of them all that came within so long. */
const MAX_NOTES = 5;
const NOTE_MS = 1000;

/** What came in one span of time. */
interface Generation {
  readonly sinceMs: number;
  readonly busiest: HeavyHitters;
  readonly denied: HeavyHitters<DenialNote>;
}

/**
 * Who asks most under one policy and who is denied most: of the last five to ten minutes, in bounded
 * memory whatever keys there are.
 */
export class PolicyTraffic {
  readonly #room: number;
  readonly #nowMs: () => number;
  readonly #denials: Sampler;
  #young: Generation;
  #old: Generation | undefined;

  /**
   * @param room how many keys are kept of each kind, for each five minutes
   * @param nowMs read only for calls that are sampled
   */
  constructor(room: number, nowMs: () => number, random: () => number) {
    this.#room = room;
    this.#nowMs = nowMs;
    this.#denials = new Sampler(random);
    this.#young = this.#begin(nowMs());
  }

  /** @param times for how many calls it stands: at least 1 */
  noteCall(key: string, times: number, nowMs: number): void {
    this.#roll(nowMs);
    this.#young.busiest.add(key, times);
  }

  /** Of a call that was denied, or would have been. */
  noteDenial(key: string, cost: number, decision: Decision): void {
    if (--this.#denials.until > 0) return;
    const nowMs = this.#nowMs();
    this.#roll(nowMs);
    const times = this.#denials.next(nowMs);
    const { notes } = this.#young.denied.add(key, times);
    const { retryAfterMs, origin, wouldDeny: shadow } = decision;
    const atMs = wallClock.nowMs();
    const note = { atMs, count: times, cost, retryAfterMs, origin, shadow };
    const [last] = notes;
    const isSame = last !== undefined && atMs >= last.atMs && atMs - last.atMs < NOTE_MS;
    if (isSame) notes[0] = { ...note, atMs: last.atMs, count: last.count + times };
    else notes.unshift(note);
    if (notes.length > MAX_NOTES) notes.pop();
  }

  /** @param count most keys of each kind */
  top(policy: string, count: number): TopKeys {
    const nowMs = this.#nowMs();
    this.#roll(nowMs);
    const { busiest, denied } = this.#young;
    return {
      policy,
      denied: merge(denied.all(), this.#old?.denied.all() ?? [], count),
      busiest: merge(busiest.all(), this.#old?.busiest.all() ?? [], count),
      coversMs: nowMs - (this.#old ?? this.#young).sinceMs,
    };
  }

  /** Of one key: how many denials were noted, and the last of them, the latest first. */
  denialsOf(key: string): { count: number; last: readonly DenialNote[] } {
    this.#roll(this.#nowMs());
    const found = [this.#young, this.#old].flatMap((one) => one?.denied.find(key) ?? []);
    return {
      count: found.reduce((sum, { count, error }) => sum + count - error, 0),
      last: found.flatMap(({ notes }) => notes).slice(0, MAX_NOTES),
    };
  }

  #roll(nowMs: number): void {
    const ageMs = nowMs - this.#young.sinceMs;
    if (ageMs < GENERATION_MS) return;
    this.#old = ageMs < 2 * GENERATION_MS ? this.#young : undefined;
    this.#young = this.#begin(nowMs);
  }

  #begin(sinceMs: number): Generation {
    return {
      sinceMs,
      busiest: new HeavyHitters(this.#room),
      denied: new HeavyHitters(this.#room),
    };
  }
}

function merge<Note>(
  young: readonly HeavyHitter<Note>[],
  old: readonly HeavyHitter<Note>[],
  count: number,
): readonly TopKey[] {
  const byKey = new Map<string, TopKey>();
  for (const { key, count, error } of [...young, ...old]) {
    const before = byKey.get(key) ?? { count: 0, error: 0 };
    byKey.set(key, { key, count: before.count + count, error: before.error + error });
  }
  return [...byKey.values()].sort((a, b) => b.count - a.count).slice(0, count);
}

import type { Decision, Origin, StoreEvent, StoreFault, StoreHealth } from '@rl/core';
import type { CallKind } from './traffic.js';

/** A decision as the replica got it. Instants are of `nowMs`. */
export interface Observation {
  readonly kind: CallKind;
  /** When it was asked for. */
  readonly atMs: number;
  readonly tookMs: number;
  readonly allowed: boolean;
  readonly origin: Origin;
  /** Where the fallback made it: why. */
  readonly fault: StoreFault | undefined;
}

/** The event loop did not turn in this time, though something was due. */
export interface Stall {
  readonly fromMs: number;
  readonly toMs: number;
  /** CPU time this process used meanwhile, all threads: little where the machine had others to serve. */
  readonly cpuMs: number;
}

/** What a limiter told of its store. */
export interface ToldEvent {
  readonly atMs: number;
  readonly type: StoreEvent['type'];
  /** What else the event says, as text. */
  readonly detail: string;
}

/** All that a replica has seen. Plain data: it crosses a process boundary. */
export interface ReplicaAccount {
  /** Calls that were made: each is observed or has thrown, or it got no answer. */
  readonly calls: number;
  readonly observations: readonly Observation[];
  /** Calls that threw or rejected, by what the error said. */
  readonly thrown: ReadonlyMap<string, number>;
  /** Unhandled rejections and uncaught exceptions. */
  readonly strays: readonly string[];
  readonly events: readonly ToldEvent[];
  readonly stalls: readonly Stall[];
  /** The longest that a call was due and not made. */
  readonly mostLateMs: number;
  /** How the limiter stood with its store at the end. */
  readonly health: StoreHealth;
}

/** Keeps account of calls as they are made and answered. */
export class Recorder {
  calls = 0;
  readonly observations: Observation[] = [];
  readonly thrown: Map<string, number> = new Map();

  /** Calls that have got neither a decision nor an error so far. */
  get open(): number {
    const errors = [...this.thrown.values()].reduce((sum, count) => sum + count, 0);
    return this.calls - this.observations.length - errors;
  }

  decided(kind: CallKind, atMs: number, tookMs: number, decision: Decision): void {
    const { allowed, origin, fallback } = decision;
    this.observations.push({ kind, atMs, tookMs, allowed, origin, fault: fallback?.fault });
  }

  failed(error: unknown): void {
    const says = String(error);
    this.thrown.set(says, (this.thrown.get(says) ?? 0) + 1);
  }
}

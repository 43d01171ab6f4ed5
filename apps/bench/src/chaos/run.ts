import { setTimeout as pause } from 'node:timers/promises';
import type { ReplicaAccount } from './account.js';
import { nowMs } from './clock.js';
import { type Field, openField } from './field.js';
import { ReplicaHandle } from './replica-handle.js';
import { CALM_MS, LEAD_MS, type Planned } from './schedule.js';

export interface RunOptions {
  readonly plan: readonly Planned[];
  readonly replicas: number;
  readonly callsPerSecond: number;
  readonly seed: number;
  /** Ends the run early, with its reason as the error. */
  readonly signal: AbortSignal;
  onProgress(what: string): void;
}

/** A fault that was. Instants are of `nowMs`. */
export interface PastFault {
  readonly name: string;
  readonly losesBuckets: boolean;
  readonly fromMs: number;
  readonly toMs: number;
  /** Permits that the server was charged for under the policy `ledger`, by the end of the calm behind it. */
  readonly charged: number;
  /** When that was read. */
  readonly chargedAtMs: number;
}

export interface Run {
  readonly fromMs: number;
  readonly toMs: number;
  /** As of `PastFault`, before the first one. */
  readonly charged: number;
  readonly chargedAtMs: number;
  readonly faults: readonly PastFault[];
  /** By the number of the replica. */
  readonly accounts: readonly ReplicaAccount[];
  readonly redisVersion: string;
}

/** Has replicas under load live through the faults. Ends all it started, however it ends itself. */
export async function runChaos(options: RunOptions): Promise<Run> {
  const { plan, replicas, callsPerSecond, seed, signal, onProgress } = options;
  const field = await openField(replicas);
  const fleet: ReplicaHandle[] = [];
  try {
    signal.throwIfAborted();
    for (let i = 0; i < replicas; i++) fleet.push(new ReplicaHandle());
    const started = fleet.map((replica, number) => {
      const { connection } = field.proxies[number] as Field['proxies'][number];
      return replica.start({ number, replicas, connection, seed, callsPerSecond });
    });
    await unlessAborted(Promise.all(started), signal);
    for (const replica of fleet) replica.begin();
    const fromMs = nowMs();
    await pause(LEAD_MS, undefined, { signal });
    const before = { charged: await field.charged(), chargedAtMs: nowMs() };
    const faults: PastFault[] = [];
    for (const planned of plan) {
      onProgress(`${planned.fault.name}, ${Math.round(planned.durationMs)} ms`);
      const past = await happen(planned, field, signal);
      await pause(CALM_MS, undefined, { signal });
      faults.push({ ...past, charged: await field.charged(), chargedAtMs: nowMs() });
    }
    const toMs = nowMs();
    const accounts = await Promise.all(fleet.map((replica) => replica.end()));
    return { ...before, fromMs, toMs, faults, accounts, redisVersion: await versionOf(field) };
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    await Promise.all(fleet.map((replica) => replica.close()));
    await field.close();
  }
}

async function happen(
  { fault, durationMs }: Planned,
  field: Field,
  signal: AbortSignal,
): Promise<Omit<PastFault, 'charged' | 'chargedAtMs'>> {
  const fromMs = nowMs();
  const end = await fault.begin(field);
  try {
    await pause(durationMs, undefined, { signal });
  } finally {
    await end();
  }
  const { name, losesBuckets = false } = fault;
  return { name, losesBuckets, fromMs, toMs: nowMs() };
}

async function versionOf({ command }: Field): Promise<string> {
  const info = String(await command('INFO', 'server'));
  return /^redis_version:(.*)\r$/m.exec(info)?.[1] ?? 'unknown';
}

/** Rejects as soon as the signal is aborted, whatever becomes of the work. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const settled = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const options = { once: true, signal: settled.signal };
    signal.addEventListener('abort', () => reject(signal.reason), options);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    settled.abort();
  }
}

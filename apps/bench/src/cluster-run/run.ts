import { setTimeout as pause } from 'node:timers/promises';
import { type ClusterNode, type RedisCluster, startCluster } from '@rl/testkit';
import { type Account, newAccount, noted } from './account.js';
import { openReplica, type PolicyName, type Replica } from './replica.js';

export interface RunOptions {
  readonly seconds: number;
  readonly replicas: number;
  /** Ends the run early, with its reason as the error. */
  readonly signal: AbortSignal;
  onProgress(what: string): void;
}

/** What one key was worth at the end. */
export interface KeyAccount {
  readonly key: string;
  /** `killed`: its primary was killed; `moved`: its slot was moved again and again. */
  readonly group: 'killed' | 'moved' | 'calm';
  readonly admitted: number;
  /** What the store has charged it by the end. */
  readonly charged: number;
  /** The same under `pair`, of a key that is asked for under two policies at once. */
  readonly pairCharged: number | undefined;
}

export interface Run {
  readonly limit: number;
  readonly account: Account;
  readonly keys: readonly KeyAccount[];
  readonly slotMoves: number;
  /** From the kill until all nodes named the new primary, and until all replicas asked the store. */
  readonly promotedAfterMs: number;
  readonly upAfterMs: number | undefined;
  /** What the limiters say of their store at the end of the load. */
  readonly stores: readonly string[];
}

const CALLS_PER_SECOND = 250;
const KEYS = 60;
/** Every so many keys one is asked for under two policies. */
const PAIR_EVERY = 5;
const DEADLINE_MS = 5;
const NODE_TIMEOUT_MS = 1000;
/** Of the run, when the primary is killed. */
const KILL_AT = 0.4;
/** Most of the load that the quotas have room for, so that they last beyond the failover. */
const ROOM = 0.7;
const TICK_MS = 5;
const SETTLE_MS = 15_000;

/** Has replicas share quotas on a cluster whose slots move and one of whose primaries dies. */
export async function runOnCluster(options: RunOptions): Promise<Run> {
  const { seconds, replicas, signal, onProgress } = options;
  onProgress('starting 3 primaries and 3 Redis replicas');
  const cluster = await startCluster({ replicasEach: 1, nodeTimeoutMs: NODE_TIMEOUT_MS });
  const fleet: Replica[] = [];
  const patient: Replica[] = [];
  const { startupNodes } = cluster;
  const limit = Math.ceil((seconds * replicas * CALLS_PER_SECOND * ROOM) / KEYS);
  try {
    for (let i = 0; i < replicas; i++) {
      const replicaId = `replica-${i}`;
      fleet.push(openReplica({ startupNodes, replicaId, limit, deadlineMs: DEADLINE_MS }));
    }
    const places = await placesOf(cluster);
    const account = newAccount();
    const end = new AbortController();
    const stop = AbortSignal.any([end.signal, signal]);
    const load = Promise.all(fleet.map((replica) => drive(replica, account, stop)));
    const fromMs = performance.now();
    onProgress('slots move');
    const until = (share: number) => fromMs + share * seconds * 1000;
    let slotMoves = await moveUntil(cluster, places, until(KILL_AT), signal);
    onProgress('a primary is killed');
    const killedAtMs = performance.now();
    await cluster.killPrimary(places.killed);
    await cluster.untilPromoted(places.killed);
    const promotedAfterMs = performance.now() - killedAtMs;
    onProgress('slots move again');
    const up = allUp(fleet).then((isUp) => (isUp ? performance.now() - killedAtMs : undefined));
    slotMoves += await moveUntil(cluster, places, until(1), signal);
    const upAfterMs = await up;
    end.abort();
    await load;
    const stores = fleet.map(({ limiter }) => limiter.health().store);
    onProgress('counting');
    patient.push(
      openReplica({
        startupNodes: cluster.startupNodes,
        replicaId: 'counter',
        limit,
        deadlineMs: 60_000,
      }),
    );
    const keys = await countKeys(patient[0] as Replica, account, places);
    return { limit, account, keys, slotMoves, promotedAfterMs, upAfterMs, stores };
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    await Promise.all([...fleet, ...patient].map((replica) => replica.close()));
    await cluster.close();
  }
}

interface Places {
  readonly killed: ClusterNode;
  /** Those a slot moves between. */
  readonly ends: readonly [ClusterNode, ClusterNode];
  readonly slots: readonly number[];
  readonly groupOf: ReadonlyMap<string, KeyAccount['group']>;
}

const nameOf = (i: number): string => `tenant-${i}`;
const isPair = (key: string): boolean => Number(key.split('-')[1]) % PAIR_EVERY === 0;

/** Chooses who is killed, and of the others' keys two whose slots move: one alone, and a pair. */
async function placesOf(cluster: RedisCluster): Promise<Places> {
  const killed = await cluster.primaryOf(0);
  const ends = [await cluster.primaryOf(8000), await cluster.primaryOf(16383)] as const;
  const groupOf = new Map<string, KeyAccount['group']>();
  const moving = new Map<boolean, number>();
  for (let i = 0; i < KEYS; i++) {
    const key = nameOf(i);
    const slot = await cluster.slotOf(`{${key}}`);
    const isKilled = (await cluster.primaryOf(slot)).id === killed.id;
    const moves = !isKilled && !moving.has(isPair(key));
    if (moves) moving.set(isPair(key), slot);
    groupOf.set(key, isKilled ? 'killed' : moves ? 'moved' : 'calm');
  }
  return { killed, ends, slots: [...moving.values()], groupOf };
}

/** Calls at an even rate until it is stopped; resolves when all are answered. */
async function drive({ limiter }: Replica, account: Account, stop: AbortSignal): Promise<void> {
  const underWay = new Set<Promise<unknown>>();
  const fromMs = performance.now();
  let made = 0;
  while (!stop.aborted) {
    const due = ((performance.now() - fromMs) / 1000) * CALLS_PER_SECOND;
    for (; made < due; made++) {
      const key = nameOf(Math.floor(Math.random() * KEYS));
      const call = noted(account, key, () =>
        limiter.consume(isPair(key) ? { quota: key, pair: key } : { quota: key }),
      );
      underWay.add(call);
      void call.then(() => underWay.delete(call));
    }
    await pause(TICK_MS);
  }
  await Promise.all(underWay);
}

/** Moves the slots there and back. @returns how many moves there were */
async function moveUntil(
  cluster: RedisCluster,
  { slots, ends }: Places,
  endMs: number,
  signal: AbortSignal,
): Promise<number> {
  let moves = 0;
  while (performance.now() < endMs) {
    for (const slot of slots) {
      const from = await cluster.primaryOf(slot);
      const to = from.id === ends[0].id ? ends[1] : ends[0];
      const move = await cluster.beginMove(slot, to);
      // In the middle of a move there is time for some calls.
      await pause(20, undefined, { signal });
      await move.migrateKeys(1);
      await pause(20, undefined, { signal });
      await move.finish();
      moves++;
    }
    await pause(20, undefined, { signal });
  }
  return moves;
}

/** @returns false where not all ask the store again after long */
async function allUp(fleet: readonly Replica[]): Promise<boolean> {
  const endMs = performance.now() + SETTLE_MS;
  while (performance.now() < endMs) {
    if (fleet.every(({ limiter }) => limiter.health().store === 'up')) return true;
    await pause(5);
  }
  return false;
}

/** What the store has of every key, beside what was admitted of it. */
function countKeys(
  { limiter }: Replica,
  { admitted }: Account,
  { groupOf }: Places,
): Promise<readonly KeyAccount[]> {
  const charged = async (keys: Partial<Record<PolicyName, string>>): Promise<number> => {
    const { limit, remaining, fallback } = await limiter.peek(keys);
    if (fallback !== undefined) throw new Error(`the store could not be asked: ${fallback.fault}`);
    return limit - remaining;
  };
  return Promise.all(
    [...groupOf].map(async ([key, group]) => ({
      key,
      group,
      admitted: admitted.get(key) ?? 0,
      charged: await charged({ quota: key }),
      pairCharged: isPair(key) ? await charged({ pair: key }) : undefined,
    })),
  );
}

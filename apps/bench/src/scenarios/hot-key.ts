import type { PolicyOptions } from '@rl/core';
import { randomPrefix, startCluster } from '@rl/testkit';
import { Redis } from 'ioredis';
import { runClosedLoop } from '../closed-loop.js';
import { runPaced } from '../hot-key/paced-load.js';
import { type HotKey, openRandomPick, openReplicas } from '../hot-key/replica-set.js';
import { gameFigures, gameTable, type Measurement, WHOLE } from '../hot-key/report.js';
import { resetScriptTime, scriptTimeOf } from '../hot-key/script-time.js';
import { playRounds } from '../rounds.js';
import { type Figures, LIMIT, OURS, type Scenario, type Stage, type Table } from '../scenario.js';
import { quantile } from '../statistics.js';

const SHARDS = 8;

/** Calls of each replica that wait for their answer, where throughput is measured. */
const IN_FLIGHT = 64;

/** A tenant within its limit, of many replicas and of one; above it; and with the smallest shares. */
const GAMES = [
  { name: 'fourReplicas', limit: 15_000, load: 0.9, replicas: 4 },
  { name: 'oneReplica', limit: 15_000, load: 0.9, replicas: 1 },
  { name: 'aboveLimit', limit: 10_000, load: 1.5, replicas: 4 },
  { name: 'smallLimit', limit: 10 * SHARDS, load: 0.9, replicas: 4 },
] as const;

/**
 * One key that all calls are of, on a Cluster of three primaries: kept as one bucket, as shards, and as
 * what an app can do by itself. The store decides each call, but where leases say otherwise.
 */
export const hotKey: Scenario = {
  name: 'hot-key',
  place: 'hotKey',
  onRequest: true,
  async run({ effort, signal }: Stage) {
    const cluster = await startCluster();
    const primaries = cluster.nodes.map(({ server }) => new Redis(server.connection));
    try {
      const figures: Record<string, Figures> = {};
      const tables: Table[] = [];
      for (const { name, ...game } of GAMES) {
        const { limit, load, replicas } = game;
        const title = `hot-key: ${limit}/s at ${100 * load} %, ${replicas} replica${replicas > 1 ? 's' : ''}, 3 primaries`;
        const rounds = await play(game, cluster.startupNodes, primaries, effort, signal);
        figures[name] = gameFigures(rounds);
        tables.push(gameTable(title, rounds));
      }
      return { figures, tables };
    } finally {
      for (const primary of primaries) primary.disconnect();
      await cluster.close();
    }
  },
};

async function play(
  { limit, load, replicas }: Omit<(typeof GAMES)[number], 'name'>,
  nodes: readonly { host: string; port: number }[],
  primaries: readonly Redis[],
  effort: Stage['effort'],
  signal: AbortSignal,
) {
  const policy: PolicyOptions = { limit, window: '1s' };
  const keptAs: [string, PolicyOptions][] = [
    [WHOLE, policy],
    [OURS, { ...policy, shards: SHARDS }],
    ['leases', { ...policy, lease: true }],
    ['leasesAndShards', { ...policy, shards: SHARDS, lease: true }],
  ];
  const opened: HotKey[] = [];
  try {
    const contenders = [];
    for (const [name, own] of keptAs) {
      const paced = await openReplicas(name, own, replicas, randomPrefix(), nodes);
      opened.push(paced);
      // Out of reach, so that the store decides each call.
      const { limit: _, ...others } = own;
      const large = { ...others, limit: LIMIT * 1000 };
      const free = await openReplicas(name, large, replicas, randomPrefix(), nodes);
      opened.push(free);
      contenders.push({ name, paced, free });
    }
    const random = await openRandomPick(
      'randomPick',
      policy,
      SHARDS,
      replicas,
      randomPrefix(),
      nodes,
    );
    opened.push(random);
    const large = { ...policy, limit: LIMIT * 1000 };
    const free = await openRandomPick('randomPick', large, SHARDS, replicas, randomPrefix(), nodes);
    opened.push(free);
    contenders.push({ name: 'randomPick', paced: random, free });
    // 2 s: ten turns of a replica through its 8 sub-buckets, of 25 ms each.
    const runMs = effort.fleetMs / 5;
    return await playRounds(
      contenders.map(({ name, paced, free: unbound }) => ({
        name,
        measure: () => measure(paced, unbound, replicas, load * limit, runMs, primaries),
      })),
      { rounds: Math.ceil(effort.rounds / 8), warmUpMs: effort.warmUpMs, signal },
    );
  } finally {
    await Promise.all(opened.map((hot) => hot.close()));
  }
}

async function measure(
  paced: HotKey,
  free: HotKey,
  replicas: number,
  perSecond: number,
  runMs: number,
  primaries: readonly Redis[],
): Promise<Measurement> {
  await resetScriptTime(primaries);
  const { made, denied, latenciesMs } = await runPaced(paced, replicas, perSecond, runMs);
  const times = await Promise.all(primaries.map(scriptTimeOf));
  const sum = (of: (time: (typeof times)[number]) => number) =>
    times.reduce((total, time) => total + of(time), 0);
  let next = 0;
  const loop = await runClosedLoop(
    {
      check: () => free.consume(next++ % replicas),
      admitted: ({ allowed }) => allowed,
    },
    { keys: ['hot'], inFlight: IN_FLIGHT * replicas, runMs: runMs / 8 },
  );
  return {
    busiestUs: Math.max(...times.map(({ us }) => us)) / made,
    totalUs: sum(({ us }) => us) / made,
    scriptCalls: sum(({ calls }) => calls) / made,
    deniedShare: denied / made,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    perSecond: (loop.answered / loop.elapsedMs) * 1000,
  };
}

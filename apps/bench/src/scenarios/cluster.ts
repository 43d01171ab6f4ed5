import { createLimiter, type Store } from '@rl/core';
import { redisStore } from '@rl/core/redis';
import { type RedisCluster, randomPrefix, startCluster } from '@rl/testkit';
import { Cluster, type Redis } from 'ioredis';
import { RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';
import { type Checked, runClosedLoop } from '../closed-loop.js';
import { PATIENT } from '../patient.js';
import { formatNumber, formatRounds } from '../report.js';
import { figuresOf, playRounds, type Round, ratioToBestPeer } from '../rounds.js';
import {
  type Figures,
  KEYS,
  LIMIT,
  OURS,
  type Scenario,
  type ScenarioResult,
  type Stage,
  type Table,
  WINDOW_MS,
} from '../scenario.js';
import { median, significant } from '../statistics.js';
import { rateLimitRedisStore } from './rate-limit-redis-store.js';

const IN_FLIGHT = 256;

/** Ours elsewhere, to see what a Cluster costs: on one server, and on the Cluster with pipelines. */
const ONE_SERVER = 'rlOneServer';
const PIPELINED = 'rlPipelined';
const PEERS = ['rateLimiterFlexible', 'rateLimitRedis'];

interface Measurement {
  readonly perSecond: number;
  readonly clientCpuUs: number;
}

type Named = Checked<unknown> & { readonly name: string };

/** Exact decisions on a Redis Cluster of three primaries, beside the peers there and ourselves elsewhere. */
export const cluster: Scenario = {
  name: 'cluster',
  onRequest: true,
  async run(stage: Stage): Promise<ScenarioResult> {
    const server = await startCluster();
    const clients: (Redis | Cluster)[] = [];
    try {
      return resultOf(await play(server, clients, stage));
    } finally {
      for (const client of clients) client.disconnect();
      await server.close();
    }
  },
};

async function play(
  server: RedisCluster,
  clients: (Redis | Cluster)[],
  { redis, effort, signal }: Stage,
): Promise<Round<Measurement>[]> {
  const connect = async (enableAutoPipelining = false): Promise<Cluster> => {
    const client = new Cluster([...server.startupNodes], { enableAutoPipelining });
    clients.push(client);
    await client.ping();
    return client;
  };
  const one = await redis.connect();
  clients.push(one);
  const prefix = randomPrefix();
  const contenders: Named[] = [
    ours(OURS, redisStore(await connect(), { prefix })),
    ours(PIPELINED, redisStore(await connect(true), { prefix })),
    ours(ONE_SERVER, redisStore(one, { prefix })),
    flexible(await connect()),
    await rateLimitRedis(await connect()),
  ];
  try {
    return await playRounds(
      contenders.map((contender) => ({
        name: contender.name,
        measure: () => measure(contender, effort.runMs),
      })),
      { ...effort, signal },
    );
  } finally {
    await redis.removeKeys(prefix);
  }
}

async function measure(contender: Named, runMs: number): Promise<Measurement> {
  const load = { keys: KEYS, inFlight: IN_FLIGHT, runMs };
  const { answered, elapsedMs, clientCpuUs } = await runClosedLoop(contender, load);
  return { perSecond: (answered / elapsedMs) * 1000, clientCpuUs: clientCpuUs / answered };
}

function ours(name: string, store: Store): Named {
  const policies = { k: { limit: LIMIT, window: WINDOW_MS } };
  const limiter = createLimiter({ policies, store, fallback: PATIENT });
  const admitted = (decision: unknown) => (decision as { allowed: boolean }).allowed;
  return { name, check: (key) => limiter.consume({ k: key }), admitted };
}

function flexible(client: Cluster): Checked<RateLimiterRes> & { name: string } {
  const limiter = new RateLimiterRedis({
    storeClient: client,
    keyPrefix: randomPrefix(),
    points: LIMIT,
    duration: WINDOW_MS / 1000,
  });
  // It rejects where it does not admit.
  return {
    name: 'rateLimiterFlexible',
    check: (key) => limiter.consume(key),
    admitted: () => true,
  };
}

async function rateLimitRedis(client: Cluster): Promise<Named> {
  const store = await rateLimitRedisStore(client, randomPrefix(), WINDOW_MS);
  return {
    name: 'rateLimitRedis',
    check: (key) => store.increment(key),
    admitted: (answer) => (answer as { totalHits: number }).totalHits <= LIMIT,
  };
}

function resultOf(rounds: Round<Measurement>[]): ScenarioResult {
  const names = [...(rounds[0] as Round<Measurement>).keys()];
  const contenders = names.map((name): [string, Figures] => [
    name,
    {
      decisionsPerSecond: significant(median(figuresOf(rounds, name, (m) => m.perSecond))),
      clientCpuUsPerDecision: significant(median(figuresOf(rounds, name, (m) => m.clientCpuUs))),
    },
  ]);
  const vsBestPeer = ratioToBestPeer(rounds, OURS, PEERS, (m) => m.perSecond, 'highest');
  const cpuVsBestPeer = ratioToBestPeer(rounds, OURS, PEERS, (m) => m.clientCpuUs, 'lowest');
  const pipelined = ratioToBestPeer(rounds, PIPELINED, PEERS, (m) => m.perSecond, 'highest');
  const table: Table = {
    title: `Exact decisions on a Cluster of three primaries, ${KEYS.length} keys, ${IN_FLIGHT} in flight`,
    header: ['', 'decisions/s', 'client CPU us'],
    rows: names.map((name) => [
      name,
      formatRounds(figuresOf(rounds, name, (m) => m.perSecond)),
      formatRounds(
        figuresOf(rounds, name, (m) => m.clientCpuUs),
        2,
      ),
    ]),
    notes: [
      `${OURS}: ${formatNumber(vsBestPeer, 2)} x the best peer on the Cluster, CPU ${formatNumber(cpuVsBestPeer, 2)} x.`,
      `${PIPELINED}, with enableAutoPipelining: ${formatNumber(pipelined, 2)} x.`,
    ],
  };
  return {
    figures: {
      vsBestPeer: significant(vsBestPeer),
      cpuVsBestPeer: significant(cpuVsBestPeer),
      pipelinedVsBestPeer: significant(pipelined),
      contenders: Object.fromEntries(contenders),
    },
    tables: [table],
  };
}

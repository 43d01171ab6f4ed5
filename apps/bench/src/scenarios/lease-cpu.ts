import { randomPrefix } from '@rl/testkit';
import { HttpClosedLoop } from '../http-load/closed-loop.js';
import { encodeRequest } from '../http-load/request.js';
import type { RedisUnderTest } from '../redis-under-test.js';
import { type Contender, playRounds, type Round } from '../rounds.js';
import { OURS, type Scenario, type ScenarioResult, type Stage } from '../scenario.js';
import { forkServer, type ServerUnderTest } from '../servers/fork-server.js';
import type { AppName, QuotaOrder, ServerOrder } from '../servers/order.js';
import {
  BARE,
  cpuFigures,
  cpuTable,
  EXPRESS_RATE_LIMIT,
  type Measurement,
} from './lease-cpu-report.js';

/** Each has one request under way at any time. */
const CONNECTIONS = 32;

/** Out of reach, so that all is admitted. */
const LIMIT = 1_000_000;
const WINDOW_MS = 1000;

/**
 * Rounds are fewer and longer than elsewhere: a server collects its garbage now and then, and what
 * that costs belongs to the request.
 */
const LONGER = 4;

const PEERS: Readonly<Record<AppName, readonly string[]>> = {
  express: [BARE, OURS, EXPRESS_RATE_LIMIT],
  fastify: [BARE, OURS],
  koa: [BARE, OURS],
};

/** What a request costs the process of its server: bare, and with a quota that is leased. */
export const leaseCpu: Scenario = {
  name: 'lease-cpu',
  place: 'lease',
  async run(stage: Stage): Promise<ScenarioResult> {
    const games = new Map<AppName, Round<Measurement>[]>();
    for (const framework of Object.keys(PEERS) as AppName[]) {
      games.set(framework, await playFramework(framework, stage));
    }
    return { figures: cpuFigures(games), tables: [cpuTable(games, CONNECTIONS)] };
  },
};

async function playFramework(
  app: AppName,
  { redis, effort, signal }: Stage,
): Promise<Round<Measurement>[]> {
  const prefix = randomPrefix();
  const servers: ServerUnderTest[] = [];
  const loops: HttpClosedLoop[] = [];
  try {
    const contenders: Contender<Measurement>[] = [];
    for (const name of PEERS[app]) {
      const server = await forkServer({ app, quota: quotaOf(name, redis.url, prefix) });
      servers.push(server);
      const loop = await HttpClosedLoop.open(server.port, [encodeRequest('tenant')], CONNECTIONS);
      loops.push(loop);
      contenders.push({ name, measure: () => measure(server, loop, LONGER * effort.runMs, redis) });
    }
    const rounds = await playRounds(contenders, {
      rounds: Math.ceil(effort.rounds / LONGER),
      warmUpMs: LONGER * effort.warmUpMs,
      signal,
    });
    return rounds;
  } finally {
    for (const loop of loops) loop.close();
    // They give back what they hold, so what is stored is removed after them.
    await Promise.all(servers.map((server) => server.close()));
    await redis.removeKeys(prefix);
  }
}

function quotaOf(name: string, redisUrl: string, prefix: string): ServerOrder['quota'] {
  if (name === BARE) return undefined;
  const quota: Omit<QuotaOrder, 'by' | 'counts'> = {
    limit: LIMIT,
    windowMs: WINDOW_MS,
    redisUrl,
    prefix,
  };
  return name === OURS
    ? { by: 'rl', counts: 'lease', ...quota }
    : { by: 'usual', counts: 'memory', ...quota };
}

async function measure(
  server: ServerUnderTest,
  loop: HttpClosedLoop,
  runMs: number,
  redis: RedisUnderTest,
): Promise<Measurement> {
  const startCalls = await redis.scriptCalls();
  const startUs = await server.cpuUs();
  const { answered, elapsedMs } = await loop.run(runMs);
  const cpuUs = (await server.cpuUs()) - startUs;
  const calls = (await redis.scriptCalls()) - startCalls;
  return {
    cpuUs: cpuUs / answered,
    perSecond: (answered / elapsedMs) * 1000,
    storeCalls: calls / answered,
  };
}
